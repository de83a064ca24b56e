/** Ignition configs out of texts, as the installer writes them: every file inline, in base64. */
import type { IgnitionConfig, Unit } from '../src/ignition/config.ts'
import { encodeDataUrl } from '../src/ignition/data-url.ts'

/** @param files text by path; scripts are executable, the rest has 0600 */
export function ignitionConfig(files: Readonly<Record<string, string>>, units: readonly Unit[] = []): IgnitionConfig {
  return {
    ignition: { version: '3.2.0' },
    storage: {
      files: Object.entries(files).map(([path, text]) => ({
        path,
        overwrite: true,
        mode: path.startsWith('/usr/local/bin/') ? 0o555 : 0o600,
        contents: { source: encodeDataUrl(text) },
      })),
    },
    systemd: { units },
  }
}
