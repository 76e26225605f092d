// Copies one file for the build, safely with concurrent builds and with processes that read the copies: an identical target
// is kept, a changed one is replaced by an atomic rename.
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';

export function placeFile(source, target) {
  if (existsSync(target) && readFileSync(target).equals(readFileSync(source))) return;
  const temporary = `${target}.${process.pid}`;
  copyFileSync(source, temporary);
  renameSync(temporary, target);
}
