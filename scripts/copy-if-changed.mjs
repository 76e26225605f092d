// Copies one file for the build. Several builds may run at once, from several terminals, beside processes that read the
// copies: what is the same is left alone, the rest is renamed into its place.
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';

export function placeFile(source, target) {
  if (existsSync(target) && readFileSync(target).equals(readFileSync(source))) return;
  const fresh = `${target}.${process.pid}`;
  copyFileSync(source, fresh);
  renameSync(fresh, target);
}
