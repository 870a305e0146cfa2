/** Checks of the database: reachability, version, schema, durability and clock. */
import { countConnections, ROLE_NAMES } from "../config/index.ts";
import { DURABILITY_SETTINGS } from "../db/inspect.ts";
import { haltsChain } from "../ledger/index.ts";
import { findChainById } from "../core/chain-registry.ts";
import { type Check, judge, ok, once } from "../core/check.ts";
import { SPREADABLE_ROLES } from "../db/instance.ts";
import type { DoctorDeps } from "./facts.ts";

const SUBJECT = "database";
/** PostgreSQL no longer maintains older major versions. */
const MAJOR_VERSION_MIN = 15;
const CLOCK_WARNING_MS = 1_000;
const CLOCK_PROBLEM_MS = 30_000;

const nameOf = (chainId: number) => findChainById(chainId)?.name ?? `chain ${chainId}`;

export interface DatabaseChecks {
  readonly all: readonly Check[];
  /** Passes when the tables can be read. */
  readonly migrated: Check;
}

export function checkDatabase({
  config: { databaseUrl, databaseConnections, chains },
  readDatabase,
  listBreaches,
  listOverdueClaims,
  listUnexpectedChanges,
}: Pick<
  DoctorDeps,
  "readDatabase" | "listBreaches" | "listOverdueClaims" | "listUnexpectedChanges"
> & {
  readonly config: Pick<DoctorDeps["config"], "databaseUrl" | "databaseConnections"> & {
    readonly chains: readonly { readonly chainId: number }[];
  };
}): DatabaseChecks {
  const facts = once(readDatabase);
  const connectionsNeeded = ROLE_NAMES.reduce(
    (sum, role) => sum + countConnections(databaseConnections, [role]),
    0,
  );
  const reachable: Check = {
    id: "database.reachable",
    subject: SUBJECT,
    needs: [],
    async run() {
      await facts();
      return ok("it answers", "a PostgreSQL that answers");
    },
  };
  const check = (id: string, run: Check["run"]): Check => {
    return { id: `database.${id}`, subject: SUBJECT, needs: [reachable], run };
  };

  const version = check("version", async () => {
    const { majorVersion } = await facts();
    return judge(majorVersion >= MAJOR_VERSION_MIN, {
      found: `PostgreSQL ${majorVersion}`,
      expected: `PostgreSQL ${MAJOR_VERSION_MIN} or newer`,
      advice: "Upgrade the server: this version is no longer maintained.",
      otherwise: "warning",
    });
  });
  const migrated = check("migrations", async () => {
    const { missingMigrations } = await facts();
    return judge(missingMigrations.length === 0, {
      found:
        missingMigrations.length === 0
          ? "the current schema"
          : `missing migrations: ${missingMigrations.join(", ")}`,
      expected: "the current schema",
      advice: "Run sluice migrate.",
    });
  });
  const durability = check("durability", async () => {
    const values = (await facts()).durability;
    const wrong = DURABILITY_SETTINGS.filter((name) => !isDurable(name, values[name]));
    return judge(wrong.length === 0, {
      found: (wrong.length === 0 ? DURABILITY_SETTINGS : wrong)
        .map((name) => `${name} = ${values[name]}`)
        .join(", "),
      expected: "every setting on, so that a committed transaction survives a power failure",
      advice: `Set ${wrong.map((name) => `${name} = on`).join(", ")} and restart the server.`,
    });
  });
  const clock = check("clock", async () => {
    const { clockAheadMs } = await facts();
    const apartMs = Math.abs(clockAheadMs);
    return judge(apartMs < CLOCK_WARNING_MS, {
      found: `${apartMs} ms ${clockAheadMs < 0 ? "behind" : "ahead of"} this machine`,
      expected: `less than ${CLOCK_WARNING_MS} ms apart`,
      advice: "Synchronise both machines with the same time servers (NTP).",
      otherwise: apartMs < CLOCK_PROBLEM_MS ? "warning" : "problem",
    });
  });
  const claim = check("claim", async () => {
    const { heldRoles } = await facts();
    const held = heldRoles.map(({ role, chainId }) =>
      chainId === undefined ? role : `${role} of ${nameOf(chainId)}`,
    );
    // Processes that were given chains leave those that none was given.
    const left = SPREADABLE_ROLES.flatMap((role) => {
      const mine = heldRoles.filter((one) => one.role === role);
      const all = mine.length === 0 || mine.some(({ chainId }) => chainId === undefined);
      const lacking = chains.filter(
        (chain) => !mine.some(({ chainId }) => chainId === chain.chainId),
      );
      return all ? [] : lacking.map(({ chainId }) => `${role} of ${nameOf(chainId)}`);
    });
    const running = held.length === 0 ? "no running service" : `running: ${held.join(", ")}`;
    return judge(left.length === 0, {
      found: left.length === 0 ? running : `${running}; missing: ${left.join(", ")}`,
      expected: "a scanner and a settler of every chain, or no running service",
      advice: "Start a process with --roles scanner,settler and --chains with these chains.",
    });
  });
  const attestor = check("attestor", async () => {
    const { attestorRights } = await facts();
    const expected = "a user that may write attestations and nothing else";
    if (attestorRights === null && !databaseUrl) return ok("the embedded database", expected);
    return judge(attestorRights?.length === 0, {
      found: attestorRights === null ? "the owner of the tables" : attestorRights.join(", "),
      expected,
      advice: attestorRights
        ? "Run sluice migrate as the owner of the tables; it names what it cannot take away."
        : "Create a user for the attestor's machine, set attestor.databaseUser and run sluice migrate.",
      otherwise: attestorRights === null ? "warning" : "problem",
    });
  });
  const ledger: Check = {
    id: "database.ledger",
    subject: SUBJECT,
    needs: [migrated],
    async run() {
      const breaches = await listBreaches();
      const quarantines = breaches.filter(({ holding }) => holding !== undefined);
      const halting = breaches.filter(haltsChain);
      const unproved = breaches.length - quarantines.length - halting.length;
      const chains = [...new Set(halting.map(({ chainId }) => chainId))];
      return judge(breaches.length === 0, {
        found:
          `breaches that halt a chain: ${halting.length}` +
          (chains.length > 0 ? ` (chains ${chains.join(", ")})` : "") +
          `, quarantines: ${quarantines.length}` +
          (unproved > 0 ? `, payouts that are not proved: ${unproved}` : ""),
        expected: "no open breach and no quarantine",
        advice: "Run sluice audit: it names the cause and the remedy of each.",
        otherwise: halting.length > 0 ? "problem" : "warning",
      });
    },
  };
  const claims: Check = {
    id: "database.claims",
    subject: SUBJECT,
    needs: [migrated],
    async run() {
      const overdue = await listOverdueClaims();
      const chains = [...new Set(overdue.map(({ srcChain }) => srcChain))];
      const stages = [...new Set(overdue.map(({ kind }) => kind))];
      return judge(overdue.length === 0, {
        found:
          overdue.length === 0
            ? "no overdue claim"
            : `claims not made: ${overdue.length} (chains ${chains.join(", ")}; ${stages.join(", ")} after their locks)`,
        expected: "each paid lock claimed within 6 hours",
        advice: "See docs/runbook/delivery-unclaimed.md: after 72 hours a lock can be taken back.",
        otherwise: "problem",
      });
    },
  };
  const governance: Check = {
    id: "database.governance",
    subject: SUBJECT,
    needs: [migrated],
    async run() {
      const unexpected = await listUnexpectedChanges();
      const expected =
        "no change of the contracts that the configuration or an operator did not expect";
      if (unexpected === null) return ok("not watched yet: the auditor reads them", expected);
      const named = unexpected.map(
        ({ id, chainId, role, state }) => `${id}: ${role} ${state} on chain ${chainId}`,
      );
      return judge(unexpected.length === 0, {
        found: unexpected.length === 0 ? "no unexpected change" : named.join(", "),
        expected,
        advice: "Run sluice governance list, and see docs/runbook/governance-unexpected.md.",
        otherwise: unexpected.some(({ state }) => state !== "removed") ? "problem" : "warning",
      });
    },
  };
  const connections = check("connections", async () => {
    const { connectionsMax } = await facts();
    return judge(connectionsNeeded <= connectionsMax, {
      found: `${connectionsMax} that PostgreSQL allows`,
      expected: `at least ${connectionsNeeded}, for one process per role with databaseConnections`,
      advice: "Raise max_connections or lower databaseConnections.",
      otherwise: "warning",
    });
  });
  const all = [
    reachable,
    version,
    connections,
    migrated,
    durability,
    clock,
    claim,
    attestor,
    ledger,
    claims,
    governance,
  ];
  return { all, migrated };
}

/** Returns whether a value is durable. For `synchronous_commit` every value but `off` waits at least for the local disk. */
function isDurable(name: string, value: string): boolean {
  return name === "synchronous_commit" ? value !== "off" : value === "on";
}
