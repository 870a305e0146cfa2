/** `npm run siege` plays attacks on the chains, `npm run siege -- border` attacks on the interface. */
if (process.argv[2] === "border") {
  process.argv.splice(2, 1);
  await import("./border/main.ts");
} else {
  await import("./main.ts");
}
