"""How the site is built: `make docs`."""

import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))
# The data sets of the examples.
sys.path.insert(0, str(Path(__file__).parent.parent))

# Before anything imports SciPy: the example with PyTorch's tensors needs it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import optiscore
from optiscore.documented import SITE

project = "optiscore"
author = "The optiscore developers"
copyright = "2026, the optiscore developers"
version = release = optiscore.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    # MathJax's own files beside the pages: the site makes no request to anywhere.
    "sphinx-mathjax-offline",
    "stored_table",
]
exclude_patterns = ["_build", "_templates", "**/sg_execution_times.rst", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "py:obj"

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
# Lines that are printed are not code.
copybutton_only_copy_prompt_lines = True

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_use_plots = False
# Where the mathematics behind a name is: the pages of the reference link to it.
autosummary_context = {
    "theory": {
        "OptimisticScoreClassifier": ("theory-decisions", "Decisions"),
        "OptimisticScoreClassifierCV": ("theory-decisions", "Decisions"),
        "ModeratedDiscriminantAnalysis": ("theory-certainty", "Certainty from the sample"),
        "KernelDiscriminantClassifier": ("theory-kernel-map", "The kernel discriminant map"),
        "KernelDiscriminantMap": ("theory-kernel-map", "The kernel discriminant map"),
        "MomentSums": ("theory-moments", "Nominal moments"),
        "RidgeCovariance": ("theory-moments", "Nominal moments"),
        "LimitLaw": ("theory-radii", "Radii"),
        "clt_radius": ("theory-radii", "Radii"),
        "empirical_radius": ("theory-radii", "Radii"),
        "moment_divergence": ("theory-ball", "The ball"),
        "extremal_moments": ("theory-scores", "The scores"),
        "log_score": ("theory-scores", "The scores"),
        "Likelihood": ("theory-scores", "The scores"),
        "ScoreTable": ("theory-tables", "Search and tables"),
        "DriftReference": ("theory-drift", "Drift"),
        **dict.fromkeys(
            [
                f"{kind}{side}"
                for kind in ("Gaussian", "Nonparametric", "FixedMean")
                for side in ("Optimistic", "Pessimistic")
            ],
            ("theory-scores", "The scores"),
        ),
    }
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "subsection_order": [f"../examples/{part}" for part in ("predict", "certainty", "worst_case", "scale")],
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "reference/backreferences",
    "doc_module": ("optiscore",),
    "reference_url": {"optiscore": None},
    "abort_on_example_error": True,
    # Times are for those who write examples.
    "min_reported_time": 1e9,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "capture_repr": (),
    "remove_config_comments": True,
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (400, 280),
    "reset_modules": ("matplotlib",),
}

html_theme = "pydata_sphinx_theme"
html_title = "optiscore"
html_logo = html_favicon = "_static/logo.svg"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_baseurl = f"{SITE}/"
html_show_sourcelink = False
html_theme_options = {
    "github_url": "https://github.com/optiscore/optiscore",
    "logo": {"text": "optiscore"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "show_prev_next": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_sidebars = {"start": [], "choosing": [], "citing": [], "changelog": []}


def skip_foreign(app, what, name, thing, skip, options):
    """Methods that scikit-learn adds for its own routing say nothing about the estimator."""
    foreign = name.startswith("set_") and name.endswith("_request")
    return True if foreign or name in ("get_metadata_routing", "set_output") else skip


def without_foreign_links(app, what, name, thing, options, lines):
    """Docstrings that come from scikit-learn point to labels of its own site: keep the text."""
    lines[:] = [re.sub(r":ref:`([^<`]+?)\s*(?:<[^>]*>)?`", r"\1", line) for line in lines]


def setup(app):
    """Sphinx's hook."""
    app.connect("autodoc-process-docstring", without_foreign_links)
    app.connect("autodoc-skip-member", skip_foreign)
    return {"parallel_read_safe": True}
