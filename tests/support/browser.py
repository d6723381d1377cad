"""Pages of a built site in headless Chromium, which measure themselves and report to the test.

The browser loads one page, which opens those of the site in frames of the widths that are asked
for. No driver is needed.
"""

import html
import json
import re
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

HARNESS = """<!doctype html><body><script>
const asked = ASKED;
async function opened(path, width) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:900px;border:0`;
  const loaded = new Promise(done => { frame.onload = done; });
  frame.src = "/" + path;
  document.body.append(frame);
  await loaded;
  return frame;
}
function measured(frame) {
  const page = frame.contentDocument, view = frame.contentWindow;
  page.querySelectorAll("details").forEach(part => { part.open = true; });
  const broken = [...page.images].filter(picture => picture.complete && !picture.naturalWidth);
  const contents = page.querySelector(".toc-drawer:not(.no-toc)")?.getBoundingClientRect();
  const wrapped = [...page.querySelectorAll("div.highlight pre")].filter(
    code => view.getComputedStyle(code).whiteSpace !== "pre");
  const requests = view.performance.getEntriesByType("resource").map(entry => entry.name);
  return {
    page: page.documentElement.scrollWidth,
    contents: !contents || (contents.left >= 0 && contents.right <= view.innerWidth),
    wrapped: wrapped.length,
    pictures: broken.map(picture => picture.src),
    away: requests.filter(name => !name.startsWith(view.location.origin + "/")
      && !name.startsWith("data:")),
  };
}
(async () => {
  const answer = {pages: []};
  for (const [path, width] of asked) {
    const frame = await opened(path, width);
    answer.pages.push(measured(frame));
    frame.remove();
  }
  return answer;
})().catch(error => ({error: String(error.stack)})).then(answer => {
  document.body.textContent = JSON.stringify(answer);
});
</script>"""


class Handler(SimpleHTTPRequestHandler):
    """The site, without a log."""

    def log_message(self, *arguments):
        pass


def measure(site: Path, pages: list[tuple[str, int]]) -> dict:
    """Measure pages (paths and widths) in a browser."""
    harness = site / "measure.html"
    harness.write_text(HARNESS.replace("ASKED", json.dumps(pages)))
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1500,1000",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
        "--virtual-time-budget=600000",
        "--dump-dom",
    ]
    handler = partial(Handler, directory=str(site))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        tempfile.TemporaryDirectory() as profile,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/{harness.name}"
        command = [CHROMIUM, *options, f"--user-data-dir={profile}", url]
        done = subprocess.run(command, capture_output=True, text=True, timeout=250, check=True)
        server.shutdown()
    harness.unlink()
    return json.loads(html.unescape(re.search("<body>(.*)</body>", done.stdout, re.DOTALL)[1]))
