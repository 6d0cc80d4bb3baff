"""Under an equation: the function that computes it and the tests that prove it, both as links.

    ```{computed} elastocal.model.statics.stiffness.loaded_stiffness
    tests/physics/test_stiffness.py
    ```

``:through:`` names the function by which the tests reach it, where they do not call it themselves.

``{in-code}`elastocal.model.robot.Robot.tree``` is a name of the code, linked to it or to what holds it.  The tests
that are cited become pages of the documentation.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective, SphinxRole

log = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="{up}_static/pygments.css"></head>
<body><h1>{title}</h1>{body}</body></html>
"""


def named(target: str, docname: str) -> nodes.Node:
    """The last two words of a dotted name, linked to where the API describes it."""
    shown = ".".join(target.split(".")[-2:])
    wanted = target.partition("(")[0]
    link = addnodes.pending_xref(
        "", refdomain="py", reftype="obj", reftarget=wanted, refdoc=docname, refexplicit=True, refspecific=False
    )
    link += nodes.literal(shown, shown, classes=["xref", "py"])
    return link


def held_by(app: Sphinx, env: BuildEnvironment, node: Any, shown: nodes.Node) -> nodes.Node | None:
    """A field or an argument has no place of its own: the link leads to the class or function that has it."""
    target = str(node.get("reftarget", ""))
    parent = target.rpartition(".")[0]
    if node.get("refdomain") != "py" or not node.get("refexplicit") or not parent.startswith("elastocal."):
        return None
    link = env.get_domain("py").resolve_xref(env, node["refdoc"], app.builder, "obj", parent, node, shown)
    if link is None:
        log.warning("the API describes neither %s nor what has it", target, location=node)
    return link


class Computed(SphinxDirective):
    """Functions as the argument, tests as the content."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"through": str}

    def run(self) -> list[nodes.Node]:
        docname = self.env.docname
        out = nodes.paragraph(classes=["computed"])
        out += nodes.Text("computed by ")
        for i, name in enumerate(self.arguments[0].split()):
            out += [nodes.Text(", "), named(name, docname)] if i else [named(name, docname)]
        if "through" in self.options:
            out += [nodes.Text(", called by "), named(self.options["through"], docname)]
        out += nodes.Text("; proved in ")
        for i, path in enumerate(" ".join(self.content).split()):
            up = "../" * docname.count("/")
            link = nodes.reference("", "", refuri=f"{up}_{path.removesuffix('.py')}.html", internal=True)
            link += nodes.literal(path, path)
            out += [nodes.Text(", "), link] if i else [link]
            cited(self.env).setdefault(docname, set()).add(path)
        return [out]


class InCode(SphinxRole):
    """``{in-code}`elastocal.model.robot.Robot.tree```"""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        return [named(self.text, self.env.docname)], []


def cited(env: Any) -> dict[str, set[str]]:
    """The tests that each page cites."""
    if not hasattr(env, "cited_tests"):
        env.cited_tests = {}
    found: dict[str, set[str]] = env.cited_tests
    return found


def forget(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    cited(env).pop(docname, None)


def merge(app: Sphinx, env: BuildEnvironment, docnames: set[str], other: BuildEnvironment) -> None:
    cited(env).update({d: cited(other)[d] for d in docnames if d in cited(other)})


def write_tests(app: Sphinx, failure: Exception | None) -> None:
    """Every cited test as a page with its text, without the contents of all pages beside it."""
    for path in sorted({p for paths in cited(app.env).values() for p in paths}):
        code = (ROOT / path).read_text(encoding="utf-8")
        body = app.builder.highlighter.highlight_block(code, "python")  # type: ignore[attr-defined]
        page = Path(app.outdir) / f"_{path.removesuffix('.py')}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(PAGE.format(title=path, up="../" * path.count("/"), body=body), encoding="utf-8")


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("computed", Computed)
    app.add_role("in-code", InCode())
    app.connect("missing-reference", held_by)
    app.connect("env-purge-doc", forget)
    app.connect("env-merge-info", merge)
    app.connect("build-finished", write_tests)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
