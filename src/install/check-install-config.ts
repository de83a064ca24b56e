/** Says before the installer does what is wrong with an install-config, and some of what it never says. */

import { InvalidConfiguration, inFileOrder } from '../config/invalid-config.ts'
import type { YamlSource } from '../config/yaml-document.ts'
import type { Finding } from '../errors/finding.ts'
import { checkCluster } from './install-config-cluster.ts'
import { InstallConfigDocument } from './install-config-document.ts'
import { checkFields } from './install-config-fields.ts'
import { checkMirrors } from './install-config-mirrors.ts'
import { checkNetwork } from './install-config-network.ts'
import { checkTrust } from './install-config-trust.ts'
import { minorOf } from './release-minor.ts'

/**
 * What the installer would refuse (error), and what it takes but a cluster behind a gap trips over (warning), in the order of
 * the file. What depends on the release and is not known to hold is a warning. No finding holds a secret.
 *
 * @param version of the release that installs it; undefined where nobody said
 */
export function checkInstallConfig(source: YamlSource, version?: string): readonly Finding[] {
  try {
    const config = new InstallConfigDocument(source, version === undefined ? undefined : minorOf(version))
    for (const check of [checkFields, checkCluster, checkNetwork, checkMirrors, checkTrust]) check(config)
    return inFileOrder(config.findings)
  } catch (error) {
    if (error instanceof InvalidConfiguration) return error.findings
    throw error
  }
}
