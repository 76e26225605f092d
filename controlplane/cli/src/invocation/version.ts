/** Equal to package.json, which is not part of the bundle. */
export const VERSION = '0.1.0';
