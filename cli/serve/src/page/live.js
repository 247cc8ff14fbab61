/** Starts the pages of the service: a match at `/m/{match}`, all matches that this browser knows at `/`. */
import { showHome } from "./home.js";
import { showMail } from "./mail.js";

const root = document.getElementById("viewer");
const [, match] = /^\/m\/([a-z0-9][a-z0-9._-]{0,63})$/.exec(location.pathname) ?? [];
if (root && match) showMail(match, root);
else if (root) showHome(root);
