/**
 * `npm run release`: builds a release in `release/`: a tarball for each package, the reference of the SDK, a bill of
 * materials, the notes of the version, and checksums of all of them. It publishes nothing.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildPackages } from "./build.ts";
import { notesOf } from "./notes.ts";
import { packPackages } from "./pack.ts";
import { writeReference } from "./reference.ts";

const ROOT = join(import.meta.dirname, "../..");
const OUT = join(ROOT, "release");

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
rmSync(OUT, { recursive: true, force: true });
const files = join(OUT, `sluice-${version}`);
mkdirSync(files, { recursive: true });

const built = buildPackages(join(OUT, "packages"));
const other = built.find((one) => one.version !== version);
if (other) {
  console.error(`${other.name} has version ${other.version}, and package.json ${version}`);
  process.exit(1);
}
packPackages(built, files);
const reference = `sluice-sdk-reference-${version}`;
await writeReference(join(OUT, reference), OUT);
execFileSync("tar", ["-czf", join(files, `${reference}.tgz`), "-C", OUT, reference]);

const sbom = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "application", "--omit", "dev"];
const bill = JSON.parse(
  execFileSync("npm", sbom, { cwd: ROOT, maxBuffer: 1 << 26, encoding: "utf8" }),
);
// npm takes the name of the folder.
bill.metadata.component.name = "sluice";
writeFileSync(join(files, "sbom.cdx.json"), `${JSON.stringify(bill, null, 2)}\n`);
const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
writeFileSync(join(files, "NOTES.md"), notesOf(changelog, version));

const sums = readdirSync(files)
  .toSorted()
  .map((name) => {
    const hash = createHash("sha256").update(readFileSync(join(files, name)));
    return `${hash.digest("hex")}  ${name}\n`;
  });
writeFileSync(join(files, "SHA256SUMS"), sums.join(""));
process.stdout.write(sums.join(""));
