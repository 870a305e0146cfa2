/** Checks of the database. */
import { DURABILITY_SETTINGS } from "../db/inspect.ts";
import { type Check, judge, ok, once } from "../core/check.ts";
import type { DoctorDeps } from "./facts.ts";

const SUBJECT = "database";
/** Older versions get no fixes any more. */
const MAJOR_VERSION_MIN = 15;
const CLOCK_WARNING_MS = 1_000;
const CLOCK_PROBLEM_MS = 30_000;

export interface DatabaseChecks {
  readonly all: readonly Check[];
  /** Holds when the tables can be read. */
  readonly migrated: Check;
}

export function checkDatabase({ readDatabase }: Pick<DoctorDeps, "readDatabase">): DatabaseChecks {
  const facts = once(readDatabase);
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
      advice: "Upgrade the server: its version gets no fixes any more.",
      otherwise: "warning",
    });
  });
  const migrated = check("migrations", async () => {
    const { missingMigrations } = await facts();
    return judge(missingMigrations.length === 0, {
      found:
        missingMigrations.length === 0
          ? "the newest schema"
          : `it lacks ${missingMigrations.join(", ")}`,
      expected: "the newest schema",
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
      expected: "every setting on: a committed transaction survives a power cut",
      advice: `Set ${wrong.map((name) => `${name} = on`).join(", ")} and restart the server.`,
    });
  });
  const clock = check("clock", async () => {
    const { clockAheadMs } = await facts();
    const apartMs = Math.abs(clockAheadMs);
    return judge(apartMs < CLOCK_WARNING_MS, {
      found: `${apartMs} ms ${clockAheadMs < 0 ? "behind" : "ahead of"} this machine`,
      expected: `less than ${CLOCK_WARNING_MS} ms apart`,
      advice: "Let both machines follow the same time servers (NTP).",
      otherwise: apartMs < CLOCK_PROBLEM_MS ? "warning" : "problem",
    });
  });
  const claim = check("claim", async () => {
    const { isClaimed } = await facts();
    const found = isClaimed ? "a running service has claimed it" : "no service runs on it";
    return ok(found, "either");
  });
  return { all: [reachable, version, migrated, durability, clock, claim], migrated };
}

/** `remote_write` and stronger wait for more than the local disk; `local` waits for that. Only `off` waits for none. */
function isDurable(name: string, value: string): boolean {
  return name === "synchronous_commit" ? value !== "off" : value === "on";
}
