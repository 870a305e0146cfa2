/** Arguments of both sieges. A wrong value ends the process with status 2 and an error that names the expected value. */

/** Options of the command line, with the minutes that are the default. */
export function siegeOptions(minutes: { readonly siege: string; readonly quiet: string }) {
  return {
    minutes: { type: "string", default: minutes.siege },
    quiet: { type: "string", default: minutes.quiet },
    players: { type: "string" },
  } as const;
}

interface SiegeValues {
  readonly minutes: string;
  readonly quiet: string;
  readonly players?: string | undefined;
}

/** Returns the minutes of the siege and of the quiet time before, and the chosen players: all if none is named. */
export function readSiege<Player extends { readonly name: string }>(
  values: SiegeValues,
  players: readonly Player[],
): { readonly minutes: number; readonly quietMinutes: number; readonly chosen: readonly Player[] } {
  const names = values.players?.split(",");
  const unknown = names?.filter((name) => !players.some((player) => player.name === name)) ?? [];
  if (unknown.length > 0) {
    const known = players.map(({ name }) => name).join(", ");
    refuse(`--players: expected names of ${known}; got ${unknown.join(", ")}`);
  }
  return {
    minutes: readMinutes("minutes", values.minutes),
    quietMinutes: readMinutes("quiet", values.quiet),
    chosen: players.filter(({ name }) => names?.includes(name) ?? true),
  };
}

function readMinutes(name: string, value: string): number {
  const minutes = Number(value);
  if (minutes > 0) return minutes;
  return refuse(`--${name}: expected a number of minutes above 0, got ${value}`);
}

function refuse(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
