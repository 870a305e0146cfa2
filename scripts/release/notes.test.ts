import { expect, test } from "vitest";
import { notesOf } from "./notes.ts";

const CHANGELOG = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0\n\n- first\n";

test("notes are the section of the version, or the unreleased one", () => {
  expect(notesOf(CHANGELOG, "0.1.0")).toBe("# Sluice 0.1.0\n\n- first\n");
  expect(notesOf(CHANGELOG, "0.2.0")).toBe("# Sluice 0.2.0\n\n- new\n\n");
  expect(() => notesOf("# Changelog\n", "0.2.0")).toThrow("no section");
});
