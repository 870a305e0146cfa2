/** Parsers of option values. Each throws InvalidArgumentError with the expected form. */
import { InvalidArgumentError } from "commander";
import {
  type GasPolicy,
  ROLE_NAMES,
  type RoleName,
  SIGNER_NAMES,
  type SignerName,
} from "../config/index.ts";

/** An integrator's gas policy; `default` stands for the configuration's. */
export type GasChoice = GasPolicy | "default";
export const GAS_CHOICES = "sponsored, charged or default";

export function parseSigner(text: string): SignerName {
  const name = SIGNER_NAMES.find((known) => known === text);
  if (name) return name;
  throw new InvalidArgumentError(`expected ${SIGNER_NAMES.join(" or ")}`);
}

export function parseRoles(text: string): readonly RoleName[] {
  const roles = ROLE_NAMES.filter((role) => text.split(",").includes(role));
  if (roles.length > 0 && roles.length === text.split(",").length) return roles;
  throw new InvalidArgumentError(`expected some of ${ROLE_NAMES.join(", ")}, each once`);
}

export function parseBps(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 10_000) return Number(text);
  throw new InvalidArgumentError("expected a whole number from 0 to 10000");
}

export function parseSeconds(text: string): number {
  if (/^\d{1,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("expected a whole number of seconds");
}

export function parseGas(text: string): GasChoice {
  if (text === "sponsored" || text === "charged" || text === "default") return text;
  throw new InvalidArgumentError(`expected ${GAS_CHOICES}`);
}

export function parseSwitch(text: string): boolean {
  if (text === "on" || text === "off") return text === "on";
  throw new InvalidArgumentError("expected on or off");
}
