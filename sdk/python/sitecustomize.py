"""Loads murphy_site into every Python that Murphy starts with MURPHY_SITE=1, then the sitecustomize that this one hides."""

import os
import sys


def _load():
    if os.environ.get("MURPHY_SITE") != "1":
        return
    try:
        import murphy_site

        murphy_site.install()
    except Exception as error:
        print("murphy: calls are not followed: %s: %s" % (type(error).__name__, error), file=sys.stderr)


def _load_hidden():
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.realpath(__file__))
    spec = PathFinder.find_spec("sitecustomize", [path for path in sys.path if os.path.realpath(path or os.curdir) != here])
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_load()
_load_hidden()
