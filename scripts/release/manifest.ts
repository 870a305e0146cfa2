/** Manifests of the published packages. */
import type { Published } from "./packages.ts";

type Versions = Readonly<Record<string, string>>;

/** The fields of a manifest that a release reads. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly bin?: Versions;
  readonly exports?: Versions;
  readonly dependencies?: Versions;
  readonly optionalDependencies?: Versions;
}

/** Returns the manifest that is published: no sources, no development, and what a program needs to run its own Node. */
export function publishedManifest(
  { description, source, node }: Published,
  { name, version, license, bin, exports, dependencies, optionalDependencies = {} }: Manifest,
  pinnedNodes: Versions,
) {
  const optional = { ...optionalDependencies, ...(bin && pinnedNodes) };
  return {
    name,
    version,
    description,
    license,
    type: "module",
    ...(!bin && { sideEffects: false }),
    engines: { node },
    ...(bin && { bin }),
    exports: {
      ...Object.fromEntries(
        Object.entries(exports ?? {}).map(([path, file]) => [path, publishedExport(file, source)]),
      ),
      "./package.json": "./package.json",
    },
    ...(dependencies && { dependencies }),
    ...(Object.keys(optional).length > 0 && { optionalDependencies: optional }),
  };
}

function publishedExport(file: string, source: string): unknown {
  if (!file.endsWith(".ts")) return file;
  const stem = file.replace(`./${source}/`, "./dist/").replace(/\.ts$/, "");
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}
