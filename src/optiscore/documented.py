"""Where an estimator is documented: its HTML representation links to its page of the reference."""

from typing import ClassVar

#: Address of the documentation of the last release.
SITE = "https://optiscore.readthedocs.io/en/stable"


class Documented:
    """Mixin, to stand before scikit-learn's base class, which asks for these names (and has the like of its own)."""

    _doc_link_module = "optiscore"
    _doc_link_template = f"{SITE}/reference/generated/{{package}}.{{name}}.html"
    _public_package: ClassVar[str] = "optiscore"

    def _doc_link_url_param_generator(self) -> dict[str, str]:
        return {"package": self._public_package, "name": type(self).__name__}
