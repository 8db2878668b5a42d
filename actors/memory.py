"""How the C library's allocator behaves in a process of many short threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

M_TRIM_THRESHOLD = -1
M_MMAP_THRESHOLD = -3
M_ARENA_MAX = -8
"""glibc's numbers for the options (malloc.h)."""
OPTIONS = (
    # Every step is a thread of its own, and each heap that one of them once filled stays: a server
    # grew by 5 MiB over a thousand turns until they shared two.
    (M_ARENA_MAX, 2),
    # As they are at first; but glibc raises them, up to 32 MiB, when a large block is freed, and
    # what large blocks leave behind then stays too (0.3 MiB in a thousand turns).
    (M_MMAP_THRESHOLD, 128 * 1024),
    (M_TRIM_THRESHOLD, 128 * 1024),
)


def give_memory_back() -> None:
    """Have threads share heaps, and the system get back what is free; see `OPTIONS`.

    Must come before the first thread is started; where the library has no such option nothing
    happens.
    """
    try:
        mallopt = _function("mallopt")
    except (ImportError, OSError):
        return
    for option, value in OPTIONS:
        mallopt(option, value)


def _function(name: str) -> Callable[..., object]:
    """Find a function of the C library that takes whole numbers.

    `ctypes` declares types for every use, for which `initialize` would wait; its C half will do.

    Raises:
        ImportError, OSError: There is no way to call it, or no such function.

    """
    from _ctypes import FUNCFLAG_CDECL, CFuncPtr, dlopen, dlsym

    class Function(CFuncPtr):
        _flags_ = FUNCFLAG_CDECL
        _restype_ = None

    ourselves: Any = None
    return Function(dlsym(dlopen(ourselves, 0), name))
