declare module 'fs-native-extensions' {
  /** Takes an exclusive lock on the whole open file without waiting; false when somebody else holds it. */
  export function tryLock(fd: number): boolean;
}
