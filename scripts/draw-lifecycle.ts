/** Writes docs/lifecycle.md from the lifecycle table. */
import { writeFileSync } from "node:fs";
import { drawLifecycle } from "../packages/service/src/settlements/drawing.ts";

writeFileSync(new URL("../docs/lifecycle.md", import.meta.url), drawLifecycle());
