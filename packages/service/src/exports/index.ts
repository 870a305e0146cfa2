export { type ExportDeps, exportLines, type ExportRequest } from "./lines.ts";
