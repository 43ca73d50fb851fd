"""The Emacs client in a real Emacs: hello, tree, compact, an error as a sentence, notifications, abort of nothing."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EMACS = shutil.which("emacs")
STORY = r"""
(setq octavo-command (list (getenv "OCTAVO_PYTHON") "-m" "octavo" "serve" "--stdio"))
(require 'octavo)
(let ((seen nil) (say (lambda (key value) (princ (format "%s\t%s\n" key value)))))
  (add-hook 'octavo-notification-functions (lambda (method _params) (push method seen)))
  (octavo-open (getenv "OCTAVO_SESSION"))
  (with-current-buffer "*octavo tree*"
    (funcall say "lines" (count-lines (point-min) (point-max)))
    (funcall say "leaf" (buffer-substring (line-beginning-position) (line-end-position)))
    (funcall say "entry" (octavo--entry)))
  (condition-case failure (octavo-request :session/getTree :sessionId "no-such")
    (user-error (funcall say "error" (cadr failure))))
  (condition-case failure (octavo-request :session/getTree :sessionId 1)
    (user-error (funcall say "params" (cadr failure))))
  (octavo-request :session/compact :sessionId (octavo--id) :strategy "extractive")
  (octavo-tree)
  (with-current-buffer "*octavo tree*"
    (funcall say "compacted" (buffer-substring (line-beginning-position) (line-end-position))))
  (octavo-undo)
  (let ((branch (octavo-request :session/getBranch :sessionId (octavo--id)))
        (text nil) (done nil))
    (mapc (lambda (entry)
            (let ((message (plist-get entry :message)))
              (when (equal (plist-get message :role) "user")
                (setq text (plist-get entry :id)))))
          (plist-get branch :entries))
    (with-current-buffer "*octavo tree*"
      (goto-char (point-min))
      (while (not (equal (get-text-property (point) 'octavo-entry) text)) (forward-line 1))
      (octavo-go))
    (let ((limit (+ (float-time) 20)))
      (while (and (null kill-ring) (< (float-time) limit)) (accept-process-output nil 0.05)))
    (funcall say "kill" (car kill-ring)))
  (funcall say "seen" (reverse seen))
  (octavo-stop)
  (setq octavo-command '("no-such-octavo"))
  (condition-case failure (octavo-open (getenv "OCTAVO_SESSION"))
    (user-error (funcall say "missing" (cadr failure)))))
"""


@pytest.mark.skipif(EMACS is None, reason="emacs is not installed (Debian: apt-get install emacs-nox)")
def test_emacs_opens_reads_compacts_and_goes_back(tmp_path: Path) -> None:
    assert EMACS is not None
    session, story = tmp_path / "tidewatch.jsonl", tmp_path / "story.el"
    shutil.copy(ROOT / "tests" / "data" / "tidewatch.jsonl", session)
    story.write_text(STORY)
    env = {name: value for name, value in os.environ.items() if not name.startswith("OCTAVO_")} | {
        "OCTAVO_PYTHON": sys.executable,
        "OCTAVO_SESSION": str(session),
        "OCTAVO_CONFIG": "",
        "OCTAVO_SESSIONS_ROOT": str(tmp_path / "root" / "sessions"),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
    }
    command = [EMACS, "-Q", "--batch", "-L", str(ROOT / "editors" / "emacs"), "-l", str(story)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    said = dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)

    entries = [json.loads(line) for line in session.read_text().splitlines()][1:]
    assert 100 < int(said["lines"]) <= len(entries)
    assert said["leaf"].startswith((">", "  "))
    assert "> " in said["leaf"]
    assert "no-such" in said["error"]
    assert "sessionId" in said["params"]
    assert "compaction" in said["compacted"]
    assert "> " in said["compacted"]
    users = [e["message"]["content"] for e in entries if e.get("message", {}).get("role") == "user"]
    assert said["kill"] == users[-1].splitlines()[0]
    for event in ("session/compactionStart", "session/compactionEnd", "session/didChange"):
        assert event in said["seen"]
    assert "compacting…" in done.stderr
    assert "pipx install octavo" in said["missing"]
