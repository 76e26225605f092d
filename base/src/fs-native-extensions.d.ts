declare module 'fs-native-extensions' {
  /**
   * Takes an exclusive lock on the whole open file without waiting. Returns false when another process has the lock.
   */
  export function tryLock(fd: number): boolean;
}
