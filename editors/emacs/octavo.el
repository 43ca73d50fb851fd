;;; octavo.el --- Session trees and compaction  -*- lexical-binding: t; -*-

;; Package-Requires: ((emacs "27.1"))

;;; Commentary:

;; A small client on the built-in jsonrpc.el: open a session, show its tree, compact, follow what happens.
;; README.md explains it; what the server offers beyond it is one `octavo-request' away.

;;; Code:

(require 'jsonrpc)
(require 'subr-x)
(eval-when-compile (require 'cl-lib))

(defgroup octavo nil "Session trees and compaction." :group 'tools)

(defcustom octavo-command '("octavo" "attach")
  "Command that starts the server."
  :type '(repeat string))

(defvar octavo--connection nil "The connection, or nil.")
(defvar octavo--session nil "Info of the session used last, a plist.")
(defvar octavo-notification-functions (list #'octavo--tell)
  "Functions called with the method, a symbol, and the payload of each notification.")

(defun octavo--tell (method params)
  "Tell the user of METHOD with PARAMS when it matters."
  (pcase method
    ('session/compactionStart (message "octavo: compacting…"))
    ('session/compactionEnd
     (message "octavo: %s"
              (cond ((eq (plist-get params :aborted) t) "the compaction was stopped; nothing was written.")
                    ((plist-get params :errorMessage))
                    ((plist-get params :tokensAfter)
                     (format "compacted: %s → %s tokens." (plist-get params :tokensBefore) (plist-get params :tokensAfter)))
                    (t "nothing to do."))))
    ('session/notice (message "octavo: %s" (plist-get params :message)))))

(defun octavo--start ()
  "Start the server and say hello."
  (unless (executable-find (car octavo-command))
    (user-error "The program %s is not here; install it with `pipx install octavo'" (car octavo-command)))
  (let ((connection
         (make-instance
          'jsonrpc-process-connection
          :name "octavo"
          :process (lambda ()
                     (make-process :name "octavo" :command octavo-command :connection-type 'pipe
                                   :coding 'utf-8-emacs-unix :noquery t
                                   :stderr (get-buffer-create " *octavo stderr*")))
          :notification-dispatcher
          (lambda (_connection method params)
            (run-hook-with-args 'octavo-notification-functions method params))
          :on-shutdown (lambda (_connection) (setq octavo--connection nil)))))
    (jsonrpc-request connection :initialize
                     (list :processId (emacs-pid) :rootUri nil :capabilities (make-hash-table)
                           :clientInfo (list :name "emacs" :version emacs-version)))
    (jsonrpc-notify connection :initialized (make-hash-table))
    (setq octavo--connection connection)))

(defun octavo-connection ()
  "Return the connection, starting the server when there is none."
  (if (and octavo--connection (jsonrpc-running-p octavo--connection))
      octavo--connection
    (octavo--start)))

(defun octavo-request (method &rest params)
  "Ask the server METHOD, a keyword like :session/getInfo, with the plist PARAMS and wait for the answer.
An error of the server becomes a `user-error' with its sentence."
  (condition-case failure
      (jsonrpc-request (octavo-connection) method (or params (make-hash-table)) :timeout 600)
    (jsonrpc-error
     (user-error "%s" (or (cdr (assq 'jsonrpc-error-message (cdr failure))) "The server stopped")))))

(defun octavo-request-async (method done &rest params)
  "Ask the server METHOD with the plist PARAMS; call DONE with the answer.
Errors are shown as a sentence.  Return the id of the request."
  (jsonrpc-async-request
   (octavo-connection) method (or params (make-hash-table))
   :timeout nil
   :success-fn done
   :error-fn (lambda (failure) (message "octavo: %s" (plist-get failure :message)))))

(defun octavo--id ()
  "Id of the session used last."
  (or (plist-get octavo--session :sessionId) (user-error "Open a session first: M-x octavo-open")))

;;;###autoload
(defun octavo-open (file)
  "Open the session in FILE and show its tree."
  (interactive "fSession file: ")
  (setq octavo--session (octavo-request :session/open :path (expand-file-name file)))
  (octavo-tree))

(defvar octavo-tree-mode-map
  (let ((map (make-sparse-keymap)))
    (define-key map (kbd "RET") #'octavo-go)
    (define-key map (kbd "S") #'octavo-go-with-summary)
    (define-key map (kbd "c") #'octavo-compact)
    (define-key map (kbd "C-c C-k") #'octavo-abort)
    map)
  "Keys of `octavo-tree-mode'.")

(define-derived-mode octavo-tree-mode special-mode "Octavo-Tree"
  "The tree of a session; `*' marks the way to where it is now, `>' the place itself."
  (setq truncate-lines t)
  (setq-local revert-buffer-function (lambda (&rest _) (octavo-tree))))

(defun octavo--insert-node (node)
  "Insert NODE as a line."
  (insert (propertize
           (format "%s%s %-10s %s%s\n"
                   (make-string (* 2 (plist-get node :depth)) ?\s)
                   (cond ((eq (plist-get node :isLeaf) t) ">") ((eq (plist-get node :onBranch) t) "*") (t " "))
                   (or (plist-get node :role) (plist-get node :type))
                   (if-let ((label (plist-get node :label))) (format "[%s] " label) "")
                   (plist-get node :text))
           'octavo-entry (plist-get node :id))))

(defun octavo-tree ()
  "Show the tree of the session, a window of 500 entries around where it is."
  (interactive)
  (let ((tree (octavo-request :session/getTree :sessionId (octavo--id) :window 500))
        (buffer (get-buffer-create "*octavo tree*")))
    (with-current-buffer buffer
      (octavo-tree-mode)
      (let ((inhibit-read-only t) (leaf nil))
        (erase-buffer)
        (mapc (lambda (node)
                (when (eq (plist-get node :isLeaf) t) (setq leaf (point)))
                (octavo--insert-node node))
              (plist-get tree :nodes))
        (when leaf (goto-char leaf))))
    (pop-to-buffer buffer)))

(defun octavo--entry ()
  "Id of the entry at point."
  (or (get-text-property (point) 'octavo-entry) (user-error "There is no entry here")))

(defun octavo-go (&optional summarize)
  "Go to the entry at point; with a prefix argument SUMMARIZE what is left.
The text of a message gone back to is put into the kill ring."
  (interactive "P")
  (octavo-request-async
   :session/navigateTree
   (lambda (result)
     (when-let ((text (plist-get result :editorText)))
       (kill-new text)
       (message "octavo: the message's text is in the kill ring."))
     (octavo-tree))
   :sessionId (octavo--id) :targetId (octavo--entry) :summarize (if summarize t :json-false)))

(defun octavo-go-with-summary ()
  "Go to the entry at point, summarising what is left."
  (interactive)
  (octavo-go t))

(defun octavo-compact (&optional strategy)
  "Compact the session; with a prefix argument ask for the STRATEGY."
  (interactive
   (list (and current-prefix-arg
              (completing-read "Strategy: " '("context-full" "snapcompact" "extractive") nil t))))
  (apply #'octavo-request-async :session/compact
         (lambda (_result) (when (get-buffer "*octavo tree*") (octavo-tree)))
         :sessionId (octavo--id) (and strategy (list :strategy strategy))))

(defun octavo-abort ()
  "Stop the compaction that is running."
  (interactive)
  (octavo-request :session/abortCompaction :sessionId (octavo--id)))

(defun octavo-undo ()
  "Go back to before the last compaction."
  (interactive)
  (octavo-request :session/undoCompaction :sessionId (octavo--id))
  (octavo-tree))

(defun octavo-stop ()
  "Hang up."
  (interactive)
  (when octavo--connection
    (jsonrpc-request octavo--connection :shutdown nil)
    (jsonrpc-notify octavo--connection :exit nil)
    (setq octavo--connection nil octavo--session nil)))

(provide 'octavo)
;;; octavo.el ends here
