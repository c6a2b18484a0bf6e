/** The words of these pages, in English and Chinese. */
import { dictionary } from '../../i18n/words.ts';

export const words = dictionary({
  title: ['Video tasks', '视频任务'],
  list: ['List of tasks', '任务列表'],
  completed: ['Finished', '已完成'],
  failed: ['Failed', '失败'],
  running: ['Running {n}%', '进行中 {n}%'],
  prompt: ['Prompt', '提示词'],
  seconds: ['Seconds', '秒数'],
  finished: ['Finished', '完成时间'],
  kept: ['Kept until', '保留至'],
  emptyTitle: ['No video tasks yet', '暂无视频任务'],
  emptyText: [
    'Tasks of this account appear here, with a player once they are finished.',
    '此账户的任务显示在这里，完成后可播放。',
  ],
});
