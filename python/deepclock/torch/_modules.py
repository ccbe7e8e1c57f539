# SPDX-License-Identifier: Apache-2.0
"""Which module runs: the modules of a network by their paths, and the stack of their calls.

The calls are tracked by a wrapper of Module.__call__, as in torch.fx and torch.jit, and not by hooks: nn.TransformerEncoderLayer and nn.MultiheadAttention take another path where a module has
hooks, and other calls would be counted than run.
"""

import functools
import inspect
import re
import sys
import threading

import torch


@functools.lru_cache(maxsize=None)
def _place(class_):
    """Returns file and line of a class; None if its source is not known."""
    try:
        return inspect.getsourcefile(class_), inspect.getsourcelines(class_)[1]
    except (OSError, TypeError):
        return None


def class_of(module):
    """The class of a module; of a scripted, traced or frozen module, the class it was made from."""
    script = getattr(module, "_c", None) if isinstance(module, torch.jit.ScriptModule) else None
    if script is None:
        return type(module)
    name = re.sub(r"^__torch__\.|___torch_mangle_\d+\.", "", script._type().qualified_name())
    holder, _, name = name.rpartition(".")
    found = getattr(sys.modules.get(holder or "__main__"), name, None)
    return found if isinstance(found, type) else type(name, (), {"__module__": holder or "__main__"})


def frame_of(name, class_):
    """Returns the frame of a module on a call path: its name, and the file and line of its class."""
    place = _place(class_) if class_ else None
    return (name, *place, place[1]) if place else name


class Modules:
    """The modules of `root`: paths as named_modules() gives them ("" is the root), each with its
    class and the parameters and buffers that it holds itself; shared ones belong to the first."""

    def __init__(self, root):
        self.root = root
        self.paths = {}    # id of a module: all of its paths
        self.classes = {}  # path: class; in the order of the definition
        if isinstance(root, torch.nn.Module):
            for path, module in root.named_modules(remove_duplicate=False):
                self.paths.setdefault(id(module), []).append(path)
                self.classes[path] = class_of(module)
        else:
            self.classes[""] = None

    def path_of(self, module, around):
        """The path of a module that is called in `around`: of several paths the one below that."""
        paths = self.paths.get(id(module))
        if not paths:
            return None
        below = around + "." if around else ""
        return next((p for p in paths if p.startswith(below)), paths[0])

    def params(self):
        """Parameters of all modules, each once; None: the root is a function."""
        if not isinstance(self.root, torch.nn.Module):
            return None
        return sum(t.numel() for _, t, parameter in self.held() if parameter)

    def held(self):
        """(path, tensor, True of a parameter or False of a buffer), each tensor once."""
        seen = set()
        if not isinstance(self.root, torch.nn.Module):
            return
        for path, module in self.root.named_modules():
            for kind, tensors in ((True, module._parameters), (False, module._buffers)):
                for _, t in tensors.items():
                    if t is not None and id(t) not in seen:
                        seen.add(id(t))
                        yield path, t, kind


_lock = threading.Lock()
_active = {}  # thread: its `calls`, the innermost last
_original = None


def _call(module, *args, **kwargs):
    """Stands for Module.__call__ while any thread follows calls."""
    following = _active.get(threading.get_ident())
    path = following[-1].path_of(module) if following else None
    if path is None:
        return _original(module, *args, **kwargs)
    return following[-1].run(path, module, args, kwargs)


class calls:
    """While it is entered, enter(path, arguments) and leave(path, result) are called around each call
    of one of the modules in this thread."""

    def __init__(self, modules, enter, leave):
        self.modules = modules
        self.stack = []
        self._enter, self._leave = enter, leave

    @property
    def path(self):
        """The innermost module that runs; "" outside of all."""
        return self.stack[-1] if self.stack else ""

    def path_of(self, module):
        return self.modules.path_of(module, self.path)

    def run(self, path, module, args, kwargs):
        self._enter(path, (args, kwargs))
        self.stack.append(path)
        result = None
        try:
            result = _original(module, *args, **kwargs)
        finally:  # also by an exception: PyTorch 2 ends the second forward pass of a checkpoint so
            self.stack.pop()
            self._leave(path, result)
        return result

    def __enter__(self):
        global _original
        with _lock:
            if not _active:
                _original = torch.nn.Module.__call__
                torch.nn.Module.__call__ = _call
            _active.setdefault(threading.get_ident(), []).append(self)
        return self

    def __exit__(self, *exception):
        thread = threading.get_ident()
        with _lock:
            _active[thread].remove(self)
            if not _active[thread]:
                del _active[thread]
            if not _active:
                torch.nn.Module.__call__ = _original
