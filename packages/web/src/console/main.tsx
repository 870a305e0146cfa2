/** The entry of the console's page. */
import { render } from "preact";
import tokens from "../kit/tokens.css?inline";
import { Console } from "./app.tsx";
import styles from "./console.css?inline";
import { followHistory } from "./place.ts";

const sheet = new CSSStyleSheet();
sheet.replaceSync(tokens + styles);
document.adoptedStyleSheets = [sheet];

followHistory();
const root = document.querySelector("#console");
// The interface is where the page is: /console is beside its endpoints, also behind a proxy with a path.
if (root) render(<Console base={new URL("./", location.href).href} />, root);
