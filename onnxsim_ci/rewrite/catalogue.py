"""Every rule, in the order in which a node is offered to them: what makes no new node comes first.

House: rewrite. May import the rules.
Touch: a new rule's line goes here; a test fails for a rule file without one.
"""

from __future__ import annotations

from onnxsim_ci.rewrite.contract import Rule
from onnxsim_ci.rewrite.rules.arithmetic import (
    convert_reciprocal_to_div,
    fuse_gelu,
    fuse_hard_sigmoid,
    fuse_hard_swish,
    fuse_mish,
    merge_constants_of_chain,
)
from onnxsim_ci.rewrite.rules.control_flow import (
    eliminate_branch_output,
    eliminate_if,
)
from onnxsim_ci.rewrite.rules.conv import (
    fuse_add_into_conv,
    fuse_batchnorm_before_conv,
    fuse_batchnorm_into_conv,
    fuse_mul_into_conv,
    fuse_pad_into_conv,
    fuse_patches_into_conv,
    fuse_slice_into_conv,
)
from onnxsim_ci.rewrite.rules.elementwise import (
    convert_castlike_to_cast,
    eliminate_cast,
    eliminate_dropout,
    eliminate_float_where,
    eliminate_identity,
    eliminate_involution,
    eliminate_neutral_add,
    eliminate_neutral_logic,
    eliminate_neutral_mul,
    eliminate_positive_zero_add,
    eliminate_pow_one,
    eliminate_single_operand,
    eliminate_where,
    merge_casts,
    merge_idempotent,
)
from onnxsim_ci.rewrite.rules.indexing import (
    merge_parts_into_gather,
    merge_patches,
    merge_repeats,
    merge_rows_into_reshape,
    merge_rows_into_split,
    merge_shape_gather,
    merge_shape_pieces,
    merge_slice_squeeze,
    merge_slices,
    merge_slices_into_split,
    merge_split_reshapes,
    merge_split_transposes,
    merge_stacked,
)
from onnxsim_ci.rewrite.rules.layout import (
    eliminate_transpose,
    fuse_transpose_into_gemm,
    merge_transpose_reshape,
    merge_transposes,
    sink_transposes,
)
from onnxsim_ci.rewrite.rules.matmul import (
    eliminate_zero_bias,
    fuse_batchnorm_into_gemm,
    fuse_matmul_add_into_gemm,
    hoist_scale_around_product,
    hoist_scale_into_weight,
    merge_matmuls,
    sink_scale_into_weight,
    sink_term_into_bias,
)
from onnxsim_ci.rewrite.rules.norm import (
    fuse_add_into_layer_normalization,
    fuse_layer_normalization,
    fuse_rms_normalization,
)
from onnxsim_ci.rewrite.rules.quant import (
    eliminate_requantize,
)
from onnxsim_ci.rewrite.rules.recurrent import (
    eliminate_zero_state,
)
from onnxsim_ci.rewrite.rules.reduce import (
    eliminate_reduce,
    eliminate_transpose_before_reduce,
    merge_pool_reshape,
    merge_reduce_reshape,
)
from onnxsim_ci.rewrite.rules.sequence import (
    convert_split_to_sequence,
)
from onnxsim_ci.rewrite.rules.shape import (
    convert_reshape_target,
    eliminate_empty_operand,
    eliminate_expand,
    eliminate_expand_before_broadcast,
    eliminate_pad,
    eliminate_reshape,
    eliminate_slice,
    eliminate_split_concat,
    eliminate_squeeze_unsqueeze,
    eliminate_tile,
    merge_concats,
    merge_gather_unsqueeze,
    merge_reshapes,
    merge_squeezes,
)

RULES: tuple[Rule, ...] = (
    eliminate_if.RULE,
    eliminate_branch_output.RULE,
    eliminate_cast.RULE,
    eliminate_dropout.RULE,
    eliminate_identity.RULE,
    eliminate_involution.RULE,
    eliminate_neutral_add.RULE,
    eliminate_neutral_logic.RULE,
    eliminate_neutral_mul.RULE,
    eliminate_positive_zero_add.RULE,
    eliminate_pow_one.RULE,
    eliminate_single_operand.RULE,
    eliminate_where.RULE,
    eliminate_float_where.RULE,
    convert_castlike_to_cast.RULE,
    merge_casts.RULE,
    merge_idempotent.RULE,
    eliminate_expand.RULE,
    eliminate_expand_before_broadcast.RULE,
    eliminate_pad.RULE,
    eliminate_reshape.RULE,
    eliminate_slice.RULE,
    eliminate_empty_operand.RULE,
    eliminate_split_concat.RULE,
    convert_split_to_sequence.RULE,
    eliminate_squeeze_unsqueeze.RULE,
    eliminate_tile.RULE,
    convert_reshape_target.RULE,
    merge_concats.RULE,
    merge_gather_unsqueeze.RULE,
    merge_reshapes.RULE,
    merge_squeezes.RULE,
    eliminate_transpose.RULE,
    fuse_transpose_into_gemm.RULE,
    merge_transpose_reshape.RULE,
    merge_transposes.RULE,
    sink_transposes.RULE,
    eliminate_reduce.RULE,
    eliminate_transpose_before_reduce.RULE,
    merge_pool_reshape.RULE,
    merge_reduce_reshape.RULE,
    merge_parts_into_gather.RULE,
    merge_patches.RULE,
    merge_repeats.RULE,
    merge_rows_into_reshape.RULE,
    merge_rows_into_split.RULE,
    merge_shape_gather.RULE,
    merge_shape_pieces.RULE,
    merge_slice_squeeze.RULE,
    merge_slices.RULE,
    merge_slices_into_split.RULE,
    merge_stacked.RULE,
    merge_split_reshapes.RULE,
    merge_split_transposes.RULE,
    eliminate_zero_state.RULE,
    eliminate_requantize.RULE,
    fuse_layer_normalization.RULE,
    fuse_rms_normalization.RULE,
    fuse_add_into_layer_normalization.RULE,
    eliminate_zero_bias.RULE,
    fuse_gelu.RULE,
    fuse_hard_sigmoid.RULE,
    fuse_hard_swish.RULE,
    fuse_mish.RULE,
    convert_reciprocal_to_div.RULE,
    fuse_add_into_conv.RULE,
    fuse_batchnorm_into_conv.RULE,
    fuse_batchnorm_before_conv.RULE,
    fuse_mul_into_conv.RULE,
    fuse_pad_into_conv.RULE,
    fuse_patches_into_conv.RULE,
    fuse_slice_into_conv.RULE,
    fuse_batchnorm_into_gemm.RULE,
    fuse_matmul_add_into_gemm.RULE,
    merge_matmuls.RULE,
    sink_scale_into_weight.RULE,
    sink_term_into_bias.RULE,
    hoist_scale_into_weight.RULE,
    hoist_scale_around_product.RULE,
    merge_constants_of_chain.RULE,
)
"""The catalogue; `rules` and `rule` print it, docs/rules is made from it."""
