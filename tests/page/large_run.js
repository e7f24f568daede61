// A run's folder of any size, with drawn numbers.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function writeLargeRun(folder, rounds, clients) {
  mkdirSync(join(folder, 'page'), { recursive: true });
  let state = 1;
  const random = () => ((state = (state * 48271) % 2147483647) / 2147483647);
  const lines = [];
  for (let round = 1; round <= rounds; ++round) {
    const who = [];
    for (let client = 0; client < clients; ++client) if (random() < 0.5) who.push(client);
    lines.push(
      JSON.stringify({
        kind: 'round', round, loss: 5 + 2 * Math.exp(-round / 900) + 0.1 * random(), lr: 0.03, clients: who.length, who, images: 9600, seconds: 10 + random(),
        bytes_down: 18923840, bytes_up: 14991680, contrast: 5 + random(), neighborhood: 3 + random(), lambda: 0.05, false_negatives: 0.1 + 0.01 * random(), false_negatives_predicted: 0.1,
        feature_cosine: 0.5 + 0.1 * random(), feature_rank: 5 + random(), feature_std: 0.7, shared_cosine: 0.5, shared_rank: 4, remote_cosine: 0.4, neighbors_remote: 0.5, neighbors_same_class: 0.2, time: 1e9 + round,
      }),
    );
    if (round % 50 === 0) lines.push(JSON.stringify({ kind: 'knn', round, knn: 0.5 - 0.2 * Math.exp(-round / 2000), knn_seconds: 1, time: 1e9 + round }));
  }
  writeFileSync(join(folder, 'metrics.jsonl'), lines.join('\n') + '\n');
  writeFileSync(join(folder, 'config.toml'), `[train]\nrounds = ${rounds}\n`);
  const list = Array.from({ length: clients }, (_, place) => ({ place, name: `client-${place}`, images: 500, counts: [250, 250] }));
  writeFileSync(join(folder, 'page/clients.json'), JSON.stringify({ classes: ['a', 'b'], clients: list }));
}
