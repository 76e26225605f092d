/** Reads a plane's Prometheus page: metric name → sum over its labels. */
export async function readMetrics(metricsUrl: string): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${metricsUrl}/metrics`)).text();
  const sums = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const name = line.slice(0, line.search(/[{ ]/));
    sums.set(name, (sums.get(name) ?? 0) + Number(line.slice(line.lastIndexOf(' ') + 1)));
  }
  return sums;
}
