# SPDX-License-Identifier: Apache-2.0
"""What deepclock.tune() found, applied to ONNX Runtime in this process.

    record = deepclock.tune("model.onnx", max_time="1m")
    session = deepclock.tuned_session(record, "model.onnx")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence, Union

if TYPE_CHECKING:
    import os

    from ._deepclock import Record

# Attributes of SessionOptions that a record may set, and the type of each; other settings are configuration entries.
_ATTRIBUTES = {"intra_op_num_threads": int, "inter_op_num_threads": int, "execution_mode": "ExecutionMode",
               "graph_optimization_level": "GraphOptimizationLevel", "enable_cpu_mem_arena": bool,
               "enable_mem_pattern": bool, "use_deterministic_compute": bool}


def _settings(record: Record) -> list[tuple[str, str]]:
    if "tune/apply" not in record.tables or "tune/configuration" not in record.facts:
        raise ValueError("the record has no configuration for ONNX Runtime: give a record of deepclock.tune() whose "
                         "fastest engine is ort")
    table = record.tables["tune/apply"]
    if not any(str(row["python"]).startswith("options = onnxruntime") for row in table):
        raise ValueError("the fastest engine of the record is not ONNX Runtime; table tune/apply has its lines")
    return [(str(row["setting"]), str(row["value"])) for row in table if row["setting"] is not None]


def _device(record: Record) -> Optional[str]:
    """Returns the option that chooses what runs the model, which is not a setting of SessionOptions."""
    options = [str(row["option"]) for row in record.tables["tune/apply"]]
    return next((o for o in options if o.startswith(("device=", "provider="))), None)


def tuned_session(record: Record, model: Union[str, bytes, os.PathLike[str]],
                  providers: Optional[Sequence[Any]] = None) -> Any:
    """Opens an onnxruntime.InferenceSession of the model, a path or the bytes of a file, in the configuration that
    deepclock.tune() found: the fastest, or the default where none was shown to be faster. Where the fastest is a variant
    of the model (quantize=), it opens the variant's file instead.

    ValueError: the record has none for ONNX Runtime, or is of another device, without `providers`. ImportError: the package
    onnxruntime is not installed.
    @since 0.1
    """
    settings = _settings(record)
    device = _device(record)
    if device and not providers:
        raise ValueError(f"the record's configuration has {device}, which is not a setting of SessionOptions: give "
                         "providers=, such as ['CUDAExecutionProvider']")
    try:
        import onnxruntime  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError as e:
        raise ImportError("tuned_session() opens a session of the package onnxruntime, which is not installed: "
                          "pip install onnxruntime") from e
    options = onnxruntime.SessionOptions()
    for name, text in settings:
        if name == "variant":
            model = text
            continue
        kind = _ATTRIBUTES.get(name)
        if kind is None and "." in name:
            options.add_session_config_entry(name, text)
        elif isinstance(kind, str):
            setattr(options, name, getattr(getattr(onnxruntime, kind), text))
        elif kind is bool:
            setattr(options, name, text == "True")
        elif kind is int:
            setattr(options, name, int(text))
        else:
            raise ValueError(f"the record has a setting that is unknown here: {name}")
    return onnxruntime.InferenceSession(model, options, providers=providers or ["CPUExecutionProvider"])
