/** Hash tag of a scope's keys: an agent's is its id, those of other scopes can be no agent's. */
export function scopeHashTag(scope: string, id: string): string {
  if (scope === 'project') return `p:${id}`;
  return scope === 'org' ? `o:${id}` : id;
}
