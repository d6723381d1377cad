"""Pages of a built site in headless Chromium, which measure themselves and report to the test.

The browser loads one page, which opens those of the site in frames of the widths that are asked
for. No driver is needed.
"""

import json
import queue
import shutil
import subprocess
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)

# `wide` is what reaches out of the text's column, and `scrolled` what has to be moved sideways to
# be read.
HARNESS = """<!doctype html><body><script>
const asked = ASKED;
function settled(frame, ready) {
  return new Promise(done => {
    const begun = Date.now();
    (function look() {
      const over = ready(frame.contentDocument) || Date.now() - begun > 60000;
      if (over) { done(); } else { setTimeout(look, 50); }
    })();
  });
}
async function opened(path, width, ready) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise(done => { frame.onload = done; });
  frame.src = "/" + path;
  document.body.append(frame);
  await loaded;
  await settled(frame, ready);
  return frame;
}
function named(element) {
  const text = element.textContent.trim().slice(0, 60);
  return `${element.tagName.toLowerCase()}.${element.className}: ${text}`;
}
function measured(frame, width) {
  const page = frame.contentDocument, view = frame.contentWindow;
  page.querySelectorAll("details").forEach(part => { part.open = true; });
  const article = page.querySelector("article");
  const right = Math.min(width, page.querySelector(".content").getBoundingClientRect().right) + 1;
  const scrolls = element => ["auto", "scroll"].includes(view.getComputedStyle(element).overflowX);
  const wide = [], scrolled = [];
  for (const element of article.querySelectorAll("*")) {
    if (element.closest("svg, mjx-container, .headerlink, .copybtn")) { continue; }
    const box = element.getBoundingClientRect();
    let frame = element.parentElement;
    while (frame !== article && !scrolls(frame)) { frame = frame.parentElement; }
    if (frame === article && box.width > 1 && box.right > right) { wide.push(named(element)); }
    const hides = element.scrollWidth > element.clientWidth + 1;
    if (scrolls(element) && hides) { scrolled.push(named(element)); }
  }
  const broken = [...page.images].filter(picture => picture.complete && !picture.naturalWidth);
  const pictures = broken.map(picture => picture.src);
  const origin = view.location.origin;
  const requests = view.performance.getEntriesByType("resource").map(entry => entry.name);
  return {
    wide, scrolled, pictures, page: page.documentElement.scrollWidth,
    away: requests.filter(name => !name.startsWith(origin) && !name.startsWith("data:")),
  };
}
(async () => {
  const answer = {pages: [], searches: {}};
  for (const [path, width] of asked.pages) {
    const frame = await opened(path, width, page => page.readyState === "complete");
    answer.pages.push(measured(frame, width));
    frame.remove();
  }
  for (const word of asked.words) {
    const frame = await opened("search.html?q=" + encodeURIComponent(word), 1400, page => {
      const summary = page.querySelector(".search-summary");
      return summary && summary.textContent.trim();
    });
    const results = page => page.querySelector("#search-results").textContent;
    await settled(frame, page => !/Searching|Preparing/.test(results(page)));
    const hits = frame.contentDocument.querySelectorAll("#search-results ul.search > li > a");
    answer.searches[word] = [...hits].map(hit => hit.getAttribute("href").split(/[?#]/)[0]);
    frame.remove();
  }
  return answer;
})().catch(error => ({error: String(error.stack)})).then(
  answer => fetch("/answer", {method: "POST", body: JSON.stringify(answer)}));
</script>"""


class Handler(SimpleHTTPRequestHandler):
    """The site, the page that measures, and where it sends what it found."""

    def __init__(self, *arguments, harness, answers, **options):
        self.harness, self.answers = harness, answers
        super().__init__(*arguments, **options)

    def do_GET(self):
        if self.path != "/measure":
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(self.harness)

    def do_POST(self):
        self.answers.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *arguments):
        pass


def measure(site: Path, pages: list[tuple[str, int]], words: list[str]) -> dict:
    """Measure pages (paths and widths) in a browser, and search for each word."""
    answers = queue.Queue()
    harness = HARNESS.replace("ASKED", json.dumps({"pages": pages, "words": words})).encode()
    handler = partial(Handler, directory=str(site), harness=harness, answers=answers)
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        tempfile.TemporaryDirectory() as profile,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        options = (
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--window-size=1500,1000",
        )
        nowhere = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
        url = f"http://127.0.0.1:{server.server_port}/measure"
        command = [
            CHROMIUM,
            *options,
            nowhere,
            f"--user-data-dir={profile}",
            "--remote-debugging-port=0",
            url,
        ]
        browser = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return answers.get(timeout=250)
        finally:
            browser.kill()
            browser.wait()
            server.shutdown()
