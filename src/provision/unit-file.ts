/** The text of a unit that serves something: systemd.service(5). */
import type { SiteServer } from './provider.ts'

/** Secrets have no place in it: everybody may read it. */
export function renderUnit({ name, argv, env }: Pick<SiteServer, 'name' | 'argv' | 'env'>): string {
  const lines = [
    '[Unit]',
    `Description=Sallyport: ${name}`,
    'Wants=network-online.target',
    'After=network-online.target',
    '',
    '[Service]',
    'Type=exec',
    `ExecStart=${argv.map(quoted).join(' ')}`,
    ...Object.entries(env).map(([variable, value]) => `Environment=${quoted(`${variable}=${value}`)}`),
    'Restart=on-failure',
    'RestartSec=2',
    'UMask=0077',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
    '',
  ]
  return lines.join('\n')
}

/** systemd.service(5) "Command lines", systemd.syntax(7) "Quoting". */
function quoted(word: string): string {
  const escaped = word.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
  return `"${escaped.replaceAll('%', '%%').replaceAll('$', '$$$$')}"`
}
