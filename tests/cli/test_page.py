"""The page in a real browser: it opens without errors, and its slider agrees with `optiscore evaluate`."""

import json
import shutil

import pytest
from command import call

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    assert call("example", "-o", folder)[0] == 0
    assert call("fit", folder / "train.csv", "-t", "diagnosis", "-o", folder / "model.skops", "-q")[0] == 0
    assert call("report", folder / "model.skops", folder / "test.csv", "-o", folder / "page.html")[0] == 0
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


def test_verdict(files):
    page = (files / "page.html").read_text(encoding="utf-8")
    assert "The model is right on 95.8 %" in page


def test_slider_changes_the_numbers_and_they_agree_with_evaluate(files, browser):
    browser.get((files / "page.html").as_uri())
    errors = [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert errors == []
    assert len(browser.find_elements("css selector", ".js-plotly-plot")) == 4
    # The page needs nothing else: it has asked for nothing.
    assert browser.execute_script("return performance.getEntriesByType('resource').map(r => r.name)") == []

    def text(name):
        return browser.find_element("id", name).text

    def rows():
        return len(browser.find_elements("css selector", "#rows tbody tr"))

    assert (text("coverage"), text("left"), rows()) == ("100.0 %", "0", 40)
    seen = {text("accuracy")}
    for place in (300, 600, 990):
        browser.execute_script(
            "const s = document.getElementById('factor'); s.value = arguments[0]; s.dispatchEvent(new Event('input'));",
            place,
        )
        chosen = browser.execute_script("return sliderTo(+document.getElementById('factor').value)")
        _, out, _ = call(
            "evaluate", files / "model.skops", files / "test.csv", "--json", "--abstain-below", repr(chosen)
        )
        ours = json.loads(out)["methods"]["optiscore"]
        assert text("coverage") == f"{100 * ours['coverage'][0]:.1f} %"
        assert text("accuracy") == f"{100 * ours['accuracy of the decided'][0]:.1f} %"
        assert int(text("left")) == round(143 * (1 - ours["coverage"][0]))
        assert rows() == min(40, int(text("left")))
        seen.add(text("accuracy"))
    assert len(seen) > 1
    browser.find_element("id", "certified").click()
    ours = json.loads(call("evaluate", files / "model.skops", files / "test.csv", "--json")[1])["methods"]["optiscore"]
    assert (text("chosen"), text("coverage")) == ("1.000", f"{100 * ours['coverage'][0]:.1f} %")


@pytest.mark.parametrize("width", [390, 1280])
def test_page_fits_its_window(files, browser, width):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get((files / "page.html").as_uri())
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_page_is_dark_where_that_is_preferred(files, browser):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    browser.get((files / "page.html").as_uri())
    assert browser.execute_script("return getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
