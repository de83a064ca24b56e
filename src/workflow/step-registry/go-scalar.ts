/**
 * What a plain scalar is for go-yaml 2, which sigs.k8s.io/yaml reads with: `yes` is a boolean, `4.10` the number 4.1, `010`
 * is 8 (kubernetes-sigs/yaml: goyaml.v2/resolve.go).
 */

/** The four kinds that are not text, in the order in which they are tried. */
export const goScalars = {
  null: { test: /^(?:~|null|Null|NULL)?$/, resolve: () => null },
  bool: {
    test: /^(?:[yYnN]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
    resolve: (text: string) => /^(?:[yYtT]|[oO][nN])/.test(text),
  },
  int: {
    test: /^[-+]?(?:[0-9][0-9_]*|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)$/,
    resolve: goInteger,
  },
  float: { test: /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/, resolve: Number },
} as const

/** Go's `ParseInt` with base 0: a leading zero means octal. What is too large to be exact stays text. */
function goInteger(text: string): number | string {
  const plain = text.replaceAll('_', '')
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/.exec(plain) ?? []
  const isOctal = /^0[0-7]+$/.test(digits)
  // 08 is no octal number; as a float it is 8.
  const value = Number(`${sign}1`) * (isOctal ? Number.parseInt(digits, 8) : Number(digits))
  return Number.isSafeInteger(value) ? value : text
}

const ordinaryText = /^[A-Za-z_/$].{5}/

/** The value of a scalar that stands without quotes. */
export function resolvePlain(text: string): string | number | boolean | null {
  // Every word that means something else is shorter.
  if (ordinaryText.test(text)) return text
  for (const { test, resolve } of Object.values(goScalars)) if (test.test(text)) return resolve(text)
  return text
}
