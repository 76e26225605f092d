/** As in package.json; the bundle has no such file beside it. */
export const VERSION = '0.1.0';
