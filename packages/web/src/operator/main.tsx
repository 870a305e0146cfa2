/** The entry of the operators' page. */
import { render } from "preact";
import styles from "../console/console.css?inline";
import { followHistory } from "../console/place.ts";
import tokens from "../kit/tokens.css?inline";
import { OperatorConsole } from "./app.tsx";
import own from "./operator.css?inline";

const sheet = new CSSStyleSheet();
sheet.replaceSync(tokens + styles + own);
document.adoptedStyleSheets = [sheet];

followHistory("overview");
const root = document.querySelector("#console");
if (root) render(<OperatorConsole />, root);
