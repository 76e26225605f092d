/** Names the browser and the system of a `User-Agent`. Pure. */

/** The first match counts: Edge and Opera name Chrome, too, and Chrome names Safari. */
const BROWSERS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bEdgA?\/(\d+)/, 'Edge'],
  [/\bOPR\/(\d+)/, 'Opera'],
  [/\b(?:Firefox|FxiOS)\/(\d+)/, 'Firefox'],
  [/(?:Chrome|CriOS)\/(\d+)/, 'Chrome'],
  [/\bVersion\/(\d+)\S* .*Safari\//, 'Safari'],
];
const SYSTEMS: readonly (readonly [pattern: RegExp, name: string])[] = [
  [/\bAndroid\b/, 'Android'],
  [/\b(?:iPhone|iPad)\b/, 'iOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];

/** `Firefox 130 on Windows`. Programs that are no browser are named as they name themselves. */
export function describeUserAgent(userAgent: string): string {
  if (userAgent === '') return 'Unknown';
  for (const [pattern, browser] of BROWSERS) {
    const version = pattern.exec(userAgent)?.[1];
    if (version === undefined) continue;
    const system = SYSTEMS.find(([systemPattern]) => systemPattern.test(userAgent))?.[1];
    return `${browser} ${version}${system === undefined ? '' : ` on ${system}`}`;
  }
  return userAgent;
}
