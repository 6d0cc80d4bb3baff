"""Links of signatures, found among the names that end with the same word instead of among all names.

Sphinx compares every type in every signature with every name of the API; that took a third of the time of a build.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from typing import Any

from sphinx.application import Sphinx
from sphinx.domains.python import PythonDomain


class NamesByLastWord(PythonDomain):
    """The domain of Sphinx, asked about a part of its names: whatever it finds for a.b.c ends with c."""

    def find_obj(self, env: Any, modname: Any, classname: Any, name: str, *more: Any) -> list[Any]:
        last = name.removesuffix("()").rpartition(".")[2]
        part = copy.copy(self)
        part.data = {**self.data, "objects": self._by_last_word().get(last, {})}
        return PythonDomain.find_obj(part, env, modname, classname, name, *more)

    def _by_last_word(self) -> dict[str, dict[str, Any]]:
        """Made again where names have come since: they all come before the first link is looked for."""
        count, found = getattr(self, "_indexed", (-1, {}))
        if count != len(self.objects):
            found = defaultdict(dict)
            for name, entry in self.objects.items():
                found[name.rpartition(".")[2]][name] = entry
            self._indexed = (len(self.objects), dict(found))
        return self._indexed[1]


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_domain(NamesByLastWord, override=True)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
