#!/bin/sh
# Get a Chromium for the browser tests: one that is there, the distribution's, or playwright's own.
set -u

have_browser() {
    for name in chromium chromium-browser google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null 2>&1 && return 0
    done
    "$BIN/python" - <<'PYTHON'
import pathlib
import sys

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    sys.exit(0 if pathlib.Path(playwright.chromium.executable_path).exists() else 1)
PYTHON
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

have_browser && exit 0
echo "Installing Chromium for the browser tests"
if command -v apt-get >/dev/null 2>&1; then
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 ||
        { as_root apt-get update >/dev/null 2>&1 && as_root apt-get install -y --no-install-recommends chromium >/dev/null 2>&1; }
fi
have_browser || "$BIN/playwright" install chromium >/dev/null 2>&1
have_browser || echo "There is no Chromium here and none could be installed; the browser tests will be skipped."
exit 0
