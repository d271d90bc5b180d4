"""The console of the command line: what a model or a repository says cannot steer the terminal.

House: cli. May import rich, errors.
Touch: nothing else; `Output.console` is the one place that makes it.
"""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from onnxsim_ci.errors import shown


class PlainConsole(Console):
    """Prints control and direction characters of texts as escapes; styles are rich's own and stay."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments of a renderable."""
        for segment in super().render(renderable, options):
            text = segment.text
            if segment.control or (text.isascii() and text.isprintable()):
                yield segment
            else:
                yield Segment("\n".join(map(shown, text.split("\n"))), segment.style)
