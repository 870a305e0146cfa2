/** The languages of the pages. */
import { de } from "./de.ts";
import { en, type Texts } from "./en.ts";

export type { Texts } from "./en.ts";

const LANGUAGES: Readonly<Record<string, Texts>> = { en, de };

/** Codes of the languages, the default first. */
export const LANGUAGE_CODES: readonly string[] = Object.keys(LANGUAGES);

/** Returns the texts of a language; English for one without texts. */
export function textsOf(language: string): Texts {
  return LANGUAGES[language] ?? en;
}

/** Returns the first of the wanted languages that has texts, such as `de` for `de-AT`; English without one. */
export function chooseLanguage(wanted: readonly string[]): string {
  const codes = wanted.map((one) => one.toLowerCase().split("-")[0] ?? "");
  return codes.find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/** Formats a duration for people: seconds below one minute, minutes below two hours, then hours. */
export function formatDuration(seconds: number, texts: Texts): string {
  if (seconds < 60) return texts.seconds(Math.max(1, Math.round(seconds)));
  if (seconds < 7_200) return texts.minutes(Math.round(seconds / 60));
  return texts.hours(Math.round(seconds / 3_600));
}
