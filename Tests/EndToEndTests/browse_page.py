"""Looks at the collector's page with Chromium as a person does: browse_page.py ADDRESS PROFILE [FOLDER]

It finds the failing endpoint, opens its slowest request, searches, filters, sorts, pages, follows and clears. It does so with
the mouse, with only the keyboard, and without script. It fails if the console has an error, or if a request goes to another
host. PROFILE is an empty folder for the browser. Screenshots of all views stay in FOLDER, if it is given.
"""

import json
import os
import sys
from urllib.parse import urlparse

from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

ADDRESS, PROFILE = sys.argv[1].rstrip("/"), sys.argv[2]
FOLDER = sys.argv[3] if len(sys.argv) > 3 else None
FAILING = ("POST", "/payments")
WIDTHS = {"wide": 1440, "narrow": 390}


def browser():
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1440,1200"):
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={PROFILE}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


# The commands that are cut off or placed next to another one.
CUT_COMMANDS = """
    const boxes = [...document.querySelectorAll('.cmd code, pre')].map(e => [e.textContent, e.getBoundingClientRect(), e])
    return boxes.filter(([, box, e], i) =>
        box.left < 0 || box.right > innerWidth
        || (e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 && getComputedStyle(e).overflowX == 'visible')
        || e.tagName == 'CODE' && boxes.some(([, other], j) => j > i && other.top < box.bottom - 1 && other.bottom > box.top + 1)
    ).map(([text]) => text)
"""


class Page:
    def __init__(self):
        self.driver = browser()
        # Between two pages the driver may report many kinds of errors. The query is repeated until its time is over.
        self.wait = WebDriverWait(self.driver, 20, ignored_exceptions=[WebDriverException])

    def open(self, path):
        """Opens a view that does not refresh itself, so that its elements stay."""
        pause = "" if "refresh=off" in path else ("&" if "?" in path else "?") + "refresh=off"
        self.driver.get(ADDRESS + path + pause)

    def leave(self, action):
        """Does something that leads to another page, and waits for that page."""
        self.driver.execute_script("window.isLeft = true")
        action()
        arrived = "return !window.isLeft && document.readyState == 'complete'"
        self.wait.until(lambda driver: driver.execute_script(arrived))

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        found = self.all(selector)
        assert found, f"{self.driver.current_url} has no {selector}"
        return found[0]

    def text(self):
        return self.one("main").text

    def follow(self, element):
        """Follows a link or sends a form, and waits for the next page."""
        self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
        self.leave(element.click)

    def row(self, *texts):
        rows = [row for row in self.all("tbody tr") if all(text in row.text for text in texts)]
        assert rows, f"{self.driver.current_url} has no row with {texts}"
        return rows[0]

    def link(self, text):
        links = [link for link in self.all("main a") if text in link.text]
        assert links, f"{self.driver.current_url} has no link {text}"
        return links[0]

    def title(self):
        return self.one("h1").text

    def trouble(self):
        """Returns the errors of the console, and the requests to other hosts."""
        errors = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]
        hosts = set()
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = urlparse(message["params"]["request"]["url"])
                if url.scheme in ("http", "https"):
                    hosts.add(url.netloc)
        return errors, hosts - {urlparse(ADDRESS).netloc}


def find_the_failing_endpoint(page):
    page.open("/?since=2h&sort=failures")
    page.follow(page.row(*FAILING).find_element(By.CSS_SELECTOR, "a.name"))
    assert FAILING[1] in page.title(), page.title()
    for heading in ("Rate and failures", "Latency", "Requests by latency", "Where the time went", "Errors", "Versions"):
        assert heading in page.text(), heading


def see_the_processes_of_a_service(page):
    page.open("/endpoint?service=payments&since=2h")
    text = page.text()
    places = [text.index(heading) for heading in ("Processes 4", "CPU", "Memory", "Wait for a thread", "Rate and failures", "Latency")]
    assert places == sorted(places), text
    assert "2 started in this window" in text, text
    assert all(chart.get_attribute("aria-label") for chart in page.all("#h-process ~ * svg.area, .three svg.area"))


def open_the_slowest_request(page):
    page.open("/requests?since=2h&endpoint=%2Fpayments&failed=true&sort=duration")
    rows = page.all("main tbody tr")
    assert len(rows) > 5
    page.follow(rows[0].find_element(By.CSS_SELECTOR, "th a, td a"))
    assert FAILING[1] in page.title(), page.title()
    for part in ("Phases", "As curl", "Request", "Response", "[redacted]"):
        assert part in page.text(), part
    trace = [link for link in page.all("main a") if "/traces/" in (link.get_attribute("href") or "")]
    page.follow(trace[0])
    assert "storefront" in page.text() and "payments" in page.text()


def search_filter_sort_and_page(page):
    page.open("/requests?since=2h")
    field = page.one("form.search input[name=search]")
    field.send_keys("no such text anywhere")
    page.follow(page.one("form.search button"))
    assert "No kept request matches" in page.text()
    page.one("form.search input[name=search]").clear()
    page.one("form.search input[name=search]").send_keys("connection_refused")
    page.follow(page.one("form.search button"))
    assert all("connection_refused" in row.text for row in page.all("main tbody tr"))
    page.one("form.search input[name=search]").clear()
    Select(page.one("form.search select[name=method]")).select_by_value("POST")
    page.follow(page.one("form.search button"))
    first = page.all("main tbody tr")[0].text
    assert "POST" in first
    page.follow([link for link in page.all("thead a") if "ms" in link.text or "uration" in link.text][0])
    assert "sort=duration" in page.driver.current_url
    page.follow(page.link("Next page"))
    assert "before=" in page.driver.current_url and page.all("main tbody tr")


def follow_what_arrives(page):
    page.open("/requests?since=2h")
    page.driver.get(page.link("Live tail").get_attribute("href").replace("refresh=off", ""))
    assert page.all("[data-live]")
    # The list is replaced every two seconds, so one step finds and follows the link.
    page.driver.execute_script("[...document.querySelectorAll('main a')].find(a => a.textContent == 'Pause').click()")
    page.wait.until(lambda _: not page.all("[data-live]"))


def use_the_keyboard_alone(page):
    page.open("/?since=2h&sort=failures")
    for _ in range(200):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        focused = page.driver.switch_to.active_element
        if "/endpoint?" in (focused.get_attribute("href") or ""):
            break
    page.leave(lambda: focused.send_keys(Keys.ENTER))
    assert "/endpoint?" in page.driver.current_url
    page.open("/requests?since=2h")
    page.one("body").send_keys("/")
    assert page.driver.switch_to.active_element.get_attribute("name") == "search"
    page.leave(lambda: page.driver.switch_to.active_element.send_keys("timeout" + Keys.ENTER))
    assert "search=timeout" in page.driver.current_url
    for view in ("/map?since=2h", "/agents?since=2h", "/endpoint?service=payments&since=2h"):
        page.open(view)
        page.leave(lambda: page.one("body").send_keys("/"))
        assert page.driver.switch_to.active_element.get_attribute("name") == "search", view
        assert "since=2h" in page.driver.current_url and "#" not in page.driver.current_url, page.driver.current_url


def read_without_script(page):
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    for path in ("/?since=2h", "/requests?since=2h", "/map?since=2h", "/agents?since=2h"):
        page.open(path)
        assert page.all("main tbody tr"), path
    page.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def picture_every_view(page):
    page.open("/requests?since=2h&failed=true&endpoint=%2Fpayments&kind=client")
    request = page.one("main tbody tr a").get_attribute("href").removeprefix(ADDRESS)
    page.open(request)
    trace = [link.get_attribute("href") for link in page.all("main a") if "/traces/" in (link.get_attribute("href") or "")][0]
    page.open("/?since=2h&sort=failures")
    endpoint = page.row(*FAILING).find_element(By.CSS_SELECTOR, "a.name").get_attribute("href").removeprefix(ADDRESS)
    views = {
        "overview": "/?since=1h&compare=previous", "endpoint": endpoint, "requests": "/requests?since=2h", "request": request,
        "service": "/endpoint?service=payments&since=2h", "trace": trace.removeprefix(ADDRESS), "map": "/map?since=2h", "agents": "/agents?since=2h",
        "empty": "/?service=nobody", "clear": "/requests/clear",
    }
    for name, path in views.items():
        page.open(path)
        for width_name, width in WIDTHS.items():
            for mode in ("light", "dark"):
                picture(page, f"{name}-{width_name}-{mode}", width, mode)
            cut = page.driver.execute_script(CUT_COMMANDS)
            assert not cut, f"{name}, {width} px: {cut}"
        # Nothing may reach past the narrowest window that the Web Content Accessibility Guidelines define.
        size(page, 320, 800)
        assert page.driver.execute_script("return document.documentElement.scrollWidth") <= 320, f"{name} is wider than 320 px"


def picture(page, name, width, mode):
    page.driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": mode}]}
    )
    size(page, width, 900)
    height = page.driver.execute_script("return document.documentElement.scrollHeight")
    size(page, width, min(height, 6000))
    if FOLDER:
        page.driver.save_screenshot(f"{FOLDER}/{name}.png")


def size(page, width, height):
    page.driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
    )


def clear_after_a_second_question(page):
    page.open("/requests?since=2h")
    page.follow(page.link("Clear kept requests"))
    page.follow(page.one("form button.danger"))
    page.open("/requests?since=2h")
    assert "none of them is kept" in page.text() or "No request is kept" in page.text()


def main():
    if FOLDER:
        os.makedirs(FOLDER, exist_ok=True)
    page = Page()
    try:
        for step in (
            find_the_failing_endpoint, see_the_processes_of_a_service, open_the_slowest_request, search_filter_sort_and_page, follow_what_arrives,
            use_the_keyboard_alone, read_without_script, picture_every_view, clear_after_a_second_question,
        ):
            step(page)
            errors, hosts = page.trouble()
            assert not errors, f"{step.__name__}: {errors}"
            assert not hosts, f"{step.__name__}: requests to {hosts}"
            print(step.__name__.replace("_", " "), flush=True)
    finally:
        page.driver.quit()


main()
