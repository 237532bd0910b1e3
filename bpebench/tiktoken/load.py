"""`tiktoken.load`: files of ranks."""

from impls.drop_in.tiktoken.load import check_hash as check_hash
from impls.drop_in.tiktoken.load import data_gym_to_mergeable_bpe_ranks as data_gym_to_mergeable_bpe_ranks
from impls.drop_in.tiktoken.load import dump_tiktoken_bpe as dump_tiktoken_bpe
from impls.drop_in.tiktoken.load import load_tiktoken_bpe as load_tiktoken_bpe
from impls.drop_in.tiktoken.load import read_file as read_file
from impls.drop_in.tiktoken.load import read_file_cached as read_file_cached
