/** The packages that are published, in the order in which they are built: each after those that it imports. */

/** A package as it is published. */
export interface Published {
  /** Folder in `packages`. */
  readonly folder: string;
  readonly description: string;
  /** Folder of its modules; the built ones lie in `dist`. */
  readonly source: string;
  /** Files and folders that are published as they are. */
  readonly assets: readonly string[];
  /** True if its modules also run in browsers: built without the types of Node. */
  readonly isUniversal: boolean;
  /** The versions of Node on which the tests run it. */
  readonly node: string;
}

/** `require` of a module needs it. */
const OLDEST = ">=20.19";
/** Its commands run on every Node: they hand over to the pinned one. */
const CURRENT = ">=22.12";

export const PUBLISHED: readonly Published[] = [
  {
    folder: "contracts",
    description: "ABIs, bytecode and test vectors of Sluice's contracts.",
    source: "abi",
    assets: ["vectors/addresses.json", "vectors/cctp-v2.json"],
    isUniversal: true,
    node: OLDEST,
  },
  {
    folder: "sdk",
    description:
      "Client of a Sluice service: requests, stream, and verification of deposit addresses.",
    source: "src",
    assets: ["README.md"],
    isUniversal: true,
    node: OLDEST,
  },
  {
    folder: "service",
    description: "Self-hosted settlement deposit service.",
    source: "src",
    assets: ["bin", "migrations", "pages", "sluice.schema.json"],
    isUniversal: false,
    node: CURRENT,
  },
  {
    folder: "sandbox",
    description: "A local Sluice in one command: chains, contracts, test tokens and the service.",
    source: "src",
    assets: ["bin", "README.md"],
    isUniversal: false,
    node: CURRENT,
  },
];
