/** Where the viewer is: a list with its filters, or one settlement. The address of the page holds all of it, to be linked to. */
import { signal } from "@preact/signals";

/** Views by the name in the page's address. */
export const VIEWS = [
  "settlements",
  "deposits",
  "addresses",
  "settlement",
  // Of operators.
  "overview",
  "chain",
  "trends",
  "integrators",
  "integrator",
  "examinations",
  "log",
  "people",
] as const;
export type View = (typeof VIEWS)[number];

export interface Place {
  readonly view: View;
  /** Filters of a list, as the interface names them; `id` of a settlement. */
  readonly filters: Readonly<Record<string, string>>;
}

/** Reads a place from the query of an address. An unknown view is the first one of the page. */
export function parsePlace(search: string, first: View = "settlements"): Place {
  const { view, ...filters } = Object.fromEntries(new URLSearchParams(search));
  return { view: VIEWS.find((name) => name === view) ?? first, filters };
}

/** Returns the query of a place. Empty filters are left out. */
export function formatPlace({ view, filters }: Place): string {
  const given = Object.entries(filters).filter(([, value]) => value !== "");
  return `?${new URLSearchParams([["view", view], ...given]).toString()}`;
}

/** The present place. */
export const place = signal<Place>(parsePlace(""));

/** Goes to a place, as a link does. */
export function go(to: Place): void {
  history.pushState(null, "", formatPlace(to));
  place.value = to;
  scrollTo(0, 0);
}

/** Follows the browser's own history. */
export function followHistory(first?: View): void {
  const read = () => {
    place.value = parsePlace(location.search, first);
  };
  addEventListener("popstate", read);
  read();
}
