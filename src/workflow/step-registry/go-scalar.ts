/**
 * What a plain scalar is for go-yaml 2, which sigs.k8s.io/yaml reads with: `yes` is a boolean, `4.10` the number 4.1, `010`
 * is 8 (kubernetes-sigs/yaml: goyaml.v2/resolve.go).
 */

/** A number that JavaScript cannot hold, or would write otherwise than Go does: `18446744073709551615`, `1e6`, `.inf`. */
export class GoNumber {
  /** What becomes of it where a text is wanted: `FormatInt`, or `FormatFloat(value, 'g', -1, 32)`. */
  readonly text: string
  readonly value: number

  constructor(text: string, value: number) {
    this.text = text
    this.value = value
  }

  toString(): string {
    return this.text
  }

  toJSON(): number {
    return this.value
  }
}

/** The kinds that are not text, in the order in which they are tried. */
export const goScalars = {
  null: { test: /^(?:~|null|Null|NULL)?$/, resolve: () => null },
  bool: {
    test: /^(?:[yYnN]|yes|Yes|YES|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)$/,
    resolve: (text: string) => /^(?:[yYtT]|[oO][nN])/.test(text),
  },
  number: { test: /^[-+.0-9][-+.0-9_a-zA-Z]*$/, resolve: goNumber },
} as const

const integer = /^[-+]?(?:0[xX][0-9a-fA-F]+|0[oO]?[0-7]+|0[bB][01]+|0|[1-9][0-9]*)$/
const float = /^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$/
const boundless = /^(?:([-+]?)\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/

/** The text itself, where it is no number. */
function goNumber(text: string): number | GoNumber | string {
  const [noNumber, sign] = boundless.exec(text) ?? []
  if (noNumber !== undefined) {
    return sign === undefined
      ? new GoNumber('NaN', Number.NaN)
      : new GoNumber(sign === '-' ? '-Inf' : '+Inf', sign === '-' ? -Infinity : Infinity)
  }
  // Underscores mean nothing, save where the point comes first.
  const plain = text.startsWith('.') ? text : text.replaceAll('_', '')
  const whole = integer.test(plain) ? goInteger(plain) : undefined
  if (whole !== undefined) return whole
  const value = float.test(plain) ? Number(plain) : Number.NaN
  return Number.isFinite(value) ? goFloat(value) : text
}

/** Go's `ParseInt` and `ParseUint` with base 0: a leading zero means octal. undefined: more than 64 bits. */
function goInteger(plain: string): number | GoNumber | undefined {
  const [, sign = '', digits = ''] = /^([-+]?)(.*)$/.exec(plain) ?? []
  const magnitude = BigInt(/^0[0-7]+$/.test(digits) ? `0o${digits}` : digits)
  const exact = sign === '-' ? -magnitude : magnitude
  if (exact < -(2n ** 63n) || exact >= (sign === '' ? 2n ** 64n : 2n ** 63n)) return undefined
  const value = Number(exact)
  return Number.isSafeInteger(value) ? value + 0 : new GoNumber(String(exact), value)
}

function goFloat(value: number): number | GoNumber {
  const text = float32Text(value)
  return text === String(value) ? value : new GoNumber(text, value)
}

/** Go's `FormatFloat(value, 'g', -1, 32)`: as few digits as tell it from its neighbours, with `e` from a million on. */
function float32Text(value: number): string {
  const near = Math.fround(value)
  if (!Number.isFinite(near)) return near > 0 ? '+Inf' : '-Inf'
  if (near === 0) return Object.is(near, -0) ? '-0' : '0'
  const isEnough = (digits: number) => Math.fround(Number(near.toPrecision(digits))) === near
  const digits = [1, 2, 3, 4, 5, 6, 7, 8].find(isEnough) ?? 9
  const [mantissa = '', exponent = ''] = near.toExponential(digits - 1).split('e')
  const power = Number(exponent)
  if (power >= -4 && power < 6) return String(Number(near.toPrecision(digits)))
  return `${mantissa}e${power < 0 ? '-' : '+'}${String(Math.abs(power)).padStart(2, '0')}`
}

const ordinaryText = /^[A-Za-z_/$].{5}/

/** The value of a scalar that stands without quotes. */
export function resolvePlain(text: string): string | number | boolean | GoNumber | null {
  // Every word that means something else is shorter.
  if (ordinaryText.test(text)) return text
  for (const { test, resolve } of Object.values(goScalars)) if (test.test(text)) return resolve(text)
  return text
}
