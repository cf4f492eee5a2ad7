"""The page in a real browser: three verdicts, with labels and without, keyboard, phones, dark mode, twenty classes."""

import json
import shutil

import numpy as np
import pandas as pd
import pytest
from command import call

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")


def overlapping(n, gap, seed, n_classes=2, d=3):
    """Classes on a line, with names that need room."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    X = rng.normal(size=(n, d))
    X[:, 0] += gap * y
    names = [
        f"class number {c} with a long, long name <{c}> & more" if n_classes > 2 else "ab"[c] for c in range(n_classes)
    ]
    return pd.DataFrame(X, columns=[f"feature {j}" for j in range(d)]).assign(kind=np.array(names)[y])


def with_strangers(frame):
    """Some of the rows that are most certain lie far from all others."""
    surest = frame["feature 0"].nlargest(30).index
    return frame.assign(**{"feature 2": frame["feature 2"].where(~frame.index.isin(surest), 9.0)})


#: Name of the page to training rows, rows to judge, and options of `fit`.
PAGES = {
    "yes": (overlapping(300, 5, 0), overlapping(150, 5, 1), []),
    "only": (overlapping(300, 2, 0), overlapping(300, 2, 1), []),
    "only, some rows unlike the others": (
        overlapping(300, 2, 0),
        with_strangers(overlapping(300, 2, 1)),
        ["--no-rows"],
    ),
    "no": (overlapping(150, 0, 0), overlapping(150, 0, 1), ["--no-rows"]),
    "optimistic": (overlapping(300, 5, 0), overlapping(150, 5, 1), ["--model", "optimistic"]),
    "two features": (overlapping(300, 3, 0, d=2), overlapping(150, 3, 1, d=2), ["--no-rows"]),
    "twenty classes": (overlapping(800, 3, 0, 20), overlapping(400, 3, 1, 20), ["--no-rows"]),
    "without labels": (overlapping(300, 5, 0), overlapping(150, 5, 1).drop(columns="kind"), ["--no-rows"]),
    "drifted": (overlapping(300, 5, 0), overlapping(150, 5, 1).drop(columns="kind").add([0, 1, 0]), ["--no-rows"]),
    "one feature": (overlapping(200, 5, 0, d=1), overlapping(100, 5, 1, d=1), ["--id", "row"]),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    for name, (train, test, options) in PAGES.items():
        if "--id" in options:
            train, test = (part.assign(row=[f"Zeile {i}" for i in range(len(part))]) for part in (train, test))
        train.to_csv(folder / "train.csv", index=False)
        test.to_csv(folder / f"{name}.csv", index=False)
        model = folder / f"{name}.skops"
        code, _, err = call("fit", folder / "train.csv", "-t", "kind", "-o", model, "-q", *options)
        assert code == 0, err
        code, _, err = call("report", model, folder / f"{name}.csv", "-o", folder / f"{name}.html", "-q")
        assert code == 0, err
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if not (DRIVER and BROWSER):
        pytest.skip("no chromium with chromedriver: install Debian's packages chromium and chromium-driver")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        f"--user-data-dir={tmp_path_factory.mktemp('browser')}",
        "--window-size=1280,1600",
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def open_page(browser, files, name, width=1280, scheme="light"):
    """Open a page, which must have no error and ask for nothing."""
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get((files / f"{name}.html").as_uri())
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
    assert browser.execute_script("return performance.getEntriesByType('resource').map(r => r.name)") == []


def text(browser, name):
    return browser.find_element("id", name).text


@pytest.mark.parametrize(
    ("name", "answer", "headline", "words"),
    [
        ("yes", "yes", "Yes, this model may be trusted on these rows.", "of 150 rows are right"),
        ("only", "only", "Only where its probability is at least", "are required"),
        ("no", "no", "No, do not rely on this model for these rows.", "than one answer for all: "),
        ("without labels", "yes", "Yes, as far as rows without labels can tell.", "cannot be known without labels"),
        ("drifted", "no", "No, do not rely on this model for these rows.", "column 'feature 1' (larger by"),
    ],
)
def test_the_first_line_is_the_verdict(files, browser, name, answer, headline, words):
    open_page(browser, files, name)
    verdict = browser.find_element("id", "verdict")
    assert answer in verdict.get_attribute("class").split()
    assert verdict.find_element("css selector", "h1").text.startswith(headline)
    assert words in text(browser, "reason")
    assert text(browser, "recommendation")
    told = json.loads(call("evaluate", files / f"{name}.skops", files / f"{name}.csv", "--json")[1])["verdict"]
    assert (told["reason"], told["recommendation"]) == (text(browser, "reason"), text(browser, "recommendation"))


def test_slider_changes_the_numbers_and_they_agree_with_evaluate(files, browser):
    open_page(browser, files, "only")
    assert len(browser.find_elements("css selector", ".js-plotly-plot")) == 4

    def rows():
        return len(browser.find_elements("css selector", "#rows tbody tr"))

    slide_to(browser, 0)
    assert (text(browser, "coverage"), text(browser, "left"), rows()) == ("100.0 %", "0", 40)
    seen = {text(browser, "accuracy")}
    for place in (200, 500, 900):
        slide_to(browser, place)
        chosen = browser.execute_script("return sliderTo(+document.getElementById('threshold').value)")
        limit = ["--abstain-below", f"probability={chosen!r}"]
        results = json.loads(call("evaluate", files / "only.skops", files / "only.csv", "--json", *limit)[1])
        assert text(browser, "coverage") == f"{100 * results['coverage']:.1f} %"
        value, low, high = results["decided"]["accuracy"]
        assert text(browser, "accuracy") == f"{100 * value:.1f} %"
        assert text(browser, "accuracy-interval") == f"({100 * low:.1f} to {100 * high:.1f} %)"
        assert int(text(browser, "left")) == round(300 * (1 - results["coverage"]))
        assert rows() == min(40, int(text(browser, "left")))
        seen.add(text(browser, "accuracy"))
    assert len(seen) > 1


def slide_to(browser, place):
    browser.execute_script(
        "const s = document.getElementById('threshold'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));",
        place,
    )


@pytest.mark.parametrize("name", ["only", "only, some rows unlike the others"])
def test_the_page_starts_at_the_recommended_threshold_and_goes_back_to_it(files, browser, name):
    """Also where rows abstain for other reasons."""
    open_page(browser, files, name)
    told = json.loads(call("evaluate", files / f"{name}.skops", files / f"{name}.csv", "--json")[1])
    verdict = told["verdict"]
    assert verdict["answer"] == "only"
    for _ in range(2):
        assert float(text(browser, "chosen")) == verdict["threshold"]
        assert f"{text(browser, 'coverage')} of all, {text(browser, 'accuracy')} (95 % interval" in verdict["reason"]
        slide_to(browser, 0)
        assert text(browser, "coverage") == "100.0 %"
        browser.find_element("id", "recommended").click()
    if "unlike" in name:
        assert told["rows to a person"]["unlike the training rows"] > 10


def test_the_keyboard_will_do(files, browser):
    from selenium.webdriver.common.keys import Keys

    open_page(browser, files, "only")
    browser.find_element("tag name", "body").send_keys(Keys.TAB)
    assert browser.switch_to.active_element.get_attribute("id") == "threshold"
    browser.switch_to.active_element.send_keys(Keys.PAGE_UP)
    assert int(text(browser, "left")) > 0
    assert "of the rows go to a person" in browser.switch_to.active_element.get_attribute("aria-valuetext")
    browser.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.switch_to.active_element.get_attribute("id") == "recommended"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert text(browser, "chosen").startswith("0.")


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1280, "light")])
@pytest.mark.parametrize("name", PAGES)
def test_page_fits_its_window(files, browser, name, width, scheme):
    open_page(browser, files, name, width, scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(20, 23, 27)" if scheme == "dark" else "rgb(255, 255, 255)")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]}
    )
    # Drawn anew in the other colours, without an error.
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_each_dot_has_its_own_certificate(files, browser):
    open_page(browser, files, "only")
    slide_to(browser, 0)
    pale = browser.execute_script(
        "return document.getElementById('plane').data.flatMap(t => t.marker.opacity).filter(o => o < 0.5).length"
    )
    told = json.loads(call("evaluate", files / "only.skops", files / "only.csv", "--json")[1])
    assert pale == sum(told["rows to a person"].values()) > 0


def test_colours_of_twenty_classes(files, browser):
    open_page(browser, files, "twenty classes")
    colours = browser.execute_script("return data.classes.map((_, i) => colour(i))")
    assert len(set(colours)) == 20
    open_page(browser, files, "two features")
    scale = browser.execute_script("return document.getElementById('plane').data[0].colorscale.map(s => s[0])")
    assert scale == sorted(scale)
    assert (scale[0], scale[-1]) == (0, 1)


def test_rows_go_by_their_ids(files, browser):
    open_page(browser, files, "one feature")
    assert browser.find_element("css selector", "#rows tbody td").text.startswith("Zeile ")
    assert "there is no plane" in text(browser, "plane-text")
