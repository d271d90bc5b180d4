"""Many models at once: isolated child processes on this machine.

Belongs here: how many models run at a time, what happens when a child dies or takes too much. Does not: the
steps for one model (api), who asked (cli and the doors).

House: fleet. May import api, report, policy and below.
Touch: CONTRIBUTING says how a Dask cluster will join `pool`.
"""

from onnxsim_ci.fleet.run import default_jobs, run_all
from onnxsim_ci.fleet.tasks import Done, Task, Worker, stopped_entry, sweep, work

__all__ = ["Done", "Task", "Worker", "default_jobs", "run_all", "stopped_entry", "sweep", "work"]
