/** Notes of a release, from the changelog. */

/** Returns the section of a version; the unreleased section if the version has none yet. */
export function notesOf(changelog: string, version: string): string {
  const sections = changelog.split(/^(?=## )/m).slice(1);
  const section =
    sections.find((one) => one.startsWith(`## ${version}`)) ??
    sections.find((one) => one.startsWith("## Unreleased"));
  if (!section) throw new Error(`CHANGELOG.md has no section "${version}" or "Unreleased"`);
  return section.replace(/^## .*\n/, `# Sluice ${version}\n`);
}
