// A run that goes on: its data, then events as they come. The token is in the address's fragment, which is not sent to
// anybody; it is kept for this tab alone.
import type { AuditEvent, PageJson, Summary } from './data';

export interface Listener {
  metrics(line: Record<string, unknown>): void;
  audit(event: AuditEvent): void;
  summary(summary: Summary): void;
  part(name: string, value: unknown): void;
  state(state: 'live' | 'lost' | 'ended' | 'refused'): void;
}

export function findToken(): string {
  const given = /[#&]token=([A-Za-z0-9._-]+)/.exec(location.hash)?.[1];
  if (given) {
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem('token') ?? '';
}

const ask = (path: string, token: string): Promise<Response> =>
  fetch(path, { headers: { Authorization: `Bearer ${token}` }, cache: 'no-store' });

// The run so far, or why there is none: the token is another run's, nobody answers, or an error does.
export type Loaded = { page: PageJson } | { why: 'refused' | 'unreachable' | `status ${number}` };

export async function loadData(token: string): Promise<Loaded> {
  try {
    const answer = await ask('/data', token);
    if (answer.status === 401) return { why: 'refused' };
    if (!answer.ok) return { why: `status ${answer.status}` };
    return { page: (await answer.json()) as PageJson };
  } catch {
    return { why: 'unreachable' }; // or cut in the middle
  }
}

// Listens until the run ends; goes on by itself after a break.
export async function listen(token: string, next: string, to: Listener): Promise<void> {
  const wait = (ms: number) => new Promise((done) => setTimeout(done, ms));
  for (let pause = 500; ; pause = Math.min(8000, 2 * pause)) {
    let reader: ReadableStreamDefaultReader<string> | undefined;
    try {
      const answer = await ask(`/events?from=${encodeURIComponent(next)}`, token);
      if (answer.status === 401) {
        to.state('refused');
        return;
      }
      if (!answer.ok || !answer.body) throw new Error('no events');
      to.state('live');
      pause = 500;
      reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        text += value;
        for (let end; (end = text.indexOf('\n\n')) >= 0; text = text.slice(end + 2)) {
          let kind = '';
          let data = '';
          for (const line of text.slice(0, end).split('\n')) {
            if (line.startsWith('event: ')) kind = line.slice(7);
            else if (line.startsWith('data: ')) data += line.slice(6);
            else if (line.startsWith('id: ')) next = line.slice(4);
          }
          if (kind === '') continue;
          let value: unknown;
          try {
            value = JSON.parse(data);
          } catch {
            continue; // a line that was cut short
          }
          if (kind === 'metrics') to.metrics(value as Record<string, unknown>);
          else if (kind === 'audit') to.audit(value as AuditEvent);
          else if (kind === 'summary') to.summary(value as Summary);
          else if (kind === 'part' && typeof value === 'string') {
            const part = await ask(`/part/${value}`, token);
            if (part.ok) to.part(value, await part.json());
          } else if (kind === 'end') {
            to.state('ended');
            return;
          }
        }
      }
    } catch {
      // below
    } finally {
      reader?.cancel().catch(() => {}); // else its connection stays open beside the next one
    }
    to.state('lost');
    await wait(pause);
  }
}
