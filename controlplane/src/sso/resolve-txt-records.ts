/** Looks up TXT records at the name servers of the machine. */
import { resolveTxt } from 'node:dns/promises';

const ABSENT: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

/** Returns the records' texts, none where the name has no record; null: no name server answered. */
export async function resolveTxtRecords(name: string): Promise<readonly string[] | null> {
  try {
    return (await resolveTxt(name)).map((chunks) => chunks.join(''));
  } catch (error) {
    return ABSENT.has((error as { code?: string }).code ?? '') ? [] : null;
  }
}
