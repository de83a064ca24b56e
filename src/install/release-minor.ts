/** 18 for 4.18.9; 100 more for each major after 4, so that a later one compares as later. Undefined where the text is no version. */
export function minorOf(version: string): number | undefined {
  const [, major, minor] = /^v?(\d+)\.(\d+)(?:[.-]|$)/.exec(version) ?? []
  if (major === undefined || Number(major) < 4) return undefined
  return (Number(major) - 4) * 100 + Number(minor)
}
